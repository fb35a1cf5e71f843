// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and drops young blocks in the memory that the BPF programs keep them in. */
#include "loader/young_blocks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_TRIES 100

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)getpagesize();

	return (bytes + page - 1) / page * page;
}

static int map_table(const struct bpf_object *object, const char *name, size_t element, void **ret,
		     size_t *cnt)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	void *memory;

	if (!map)
		return -ENOENT;
	*cnt = bpf_map__max_entries(map);
	memory = mmap(NULL, whole_pages(*cnt * element), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret = memory;
	return 0;
}

int young_blocks_init(struct young_blocks *young, const struct bpf_object *object,
		      enum memleak_domain domain)
{
	int err = map_table(object, "young", sizeof(*young->buckets), (void **)&young->buckets,
			    &young->bucket_cnt);

	young->domain = domain;
	if (!err)
		err = map_table(object, "held", sizeof(*young->held), (void **)&young->held,
				&young->held_cnt);
	if (err)
		return err;
	young->seen = calloc(young->bucket_cnt, sizeof(*young->seen));
	return young->seen ? 0 : -ENOMEM;
}

void young_blocks_deinit(struct young_blocks *young)
{
	if (young->buckets)
		munmap(young->buckets, whole_pages(young->bucket_cnt * sizeof(*young->buckets)));
	if (young->held)
		munmap(young->held, whole_pages(young->held_cnt * sizeof(*young->held)));
	free(young->seen);
	*young = (struct young_blocks){0};
}

/* The address of a block that is alive, or 0. */
static uint64_t live_address(uint64_t word)
{
	uint64_t state = word & MEMLEAK_YOUNG_STATES;

	return state && state != MEMLEAK_YOUNG_MOVING ? 0 : word & ~MEMLEAK_YOUNG_STATES;
}

/*
 * Copies a block; returns its address, 0: there is none. It may make place for another in the
 * middle, at the same address too. What is the same twice in a row was not being written.
 */
static uint64_t read_block(const struct memleak_young *bucket, size_t place,
			   struct memleak_young_block *ret)
{
	const uint64_t *word = (const uint64_t *)&bucket->words[place];
	struct memleak_young_block last;
	uint64_t addr = 0;

	memset(&last, 0, sizeof(last));
	for (int i = 0; i < READ_TRIES; i++) {
		addr = live_address(__atomic_load_n(word, __ATOMIC_ACQUIRE));
		if (!addr)
			return 0;
		memcpy(ret, &bucket->blocks[place], sizeof(*ret));
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (i && live_address(__atomic_load_n(word, __ATOMIC_ACQUIRE)) == addr &&
		    memcmp(ret, &last, sizeof(last)) == 0)
			break;
		last = *ret;
	}
	return addr;
}

static void read_bucket(const struct memleak_young *bucket, struct memleak_young *ret)
{
	for (size_t i = 0; i < MEMLEAK_YOUNG_BLOCKS; i++)
		ret->words[i] = read_block(bucket, i, &ret->blocks[i]);
}

int young_blocks_walk(struct young_blocks *young,
		      int (*element)(void *arg, const void *key, const void *value), void *arg)
{
	for (size_t i = 0; i < young->bucket_cnt; i++)
		read_bucket(&young->buckets[i], &young->seen[i]);
	for (size_t i = 0; i < young->bucket_cnt * MEMLEAK_YOUNG_BLOCKS; i++) {
		const struct memleak_young *bucket = &young->seen[i / MEMLEAK_YOUNG_BLOCKS];
		size_t place = i % MEMLEAK_YOUNG_BLOCKS;
		const struct memleak_young_block *kept = &bucket->blocks[place];
		const struct memleak_block_key key = {
			.addr = bucket->words[place],
			.image = kept->image,
			.domain = young->domain,
		};
		const struct memleak_block block = {
			.size = kept->size,
			.birth_ns = kept->birth_ns,
			.site = kept->site,
			.tid = kept->tid,
		};
		int err = key.addr ? element(arg, &key, &block) : 0;

		if (err)
			return err;
	}
	return 0;
}

bool young_blocks_met(const struct young_blocks *young, const struct memleak_block_key *key)
{
	const struct memleak_young *bucket =
		&young->seen[block__hash(key) & (young->bucket_cnt - 1)];

	for (size_t i = 0; i < MEMLEAK_YOUNG_BLOCKS; i++)
		if (bucket->words[i] == key->addr && bucket->blocks[i].image == key->image)
			return key->domain == young->domain;
	return false;
}

void young_blocks_count(const struct young_blocks *young, uint64_t *ret_young, uint64_t *ret_held)
{
	uint64_t live = 0, held = 0;

	for (size_t i = 0; i < young->bucket_cnt * MEMLEAK_YOUNG_BLOCKS; i++)
		live += __atomic_load_n(&young->buckets[i / MEMLEAK_YOUNG_BLOCKS]
						 .words[i % MEMLEAK_YOUNG_BLOCKS],
					__ATOMIC_RELAXED) != 0;
	for (size_t i = 0; i < young->held_cnt * MEMLEAK_HELD_IN_LINE; i++)
		held += __atomic_load_n(
			&young->held[i / MEMLEAK_HELD_IN_LINE].cnt[i % MEMLEAK_HELD_IN_LINE],
			__ATOMIC_RELAXED);
	*ret_young = live;
	*ret_held = held;
}

uint64_t young_blocks_purge(struct young_blocks *young, const struct image_set *images)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < young->bucket_cnt * MEMLEAK_YOUNG_BLOCKS; i++) {
		struct memleak_young *bucket = &young->buckets[i / MEMLEAK_YOUNG_BLOCKS];
		size_t place = i % MEMLEAK_YOUNG_BLOCKS;
		struct memleak_young_block block;
		uint64_t word = read_block(bucket, place, &block);

		if (word && image_set_has(images, block.image) &&
		    __sync_bool_compare_and_swap(&bucket->words[place], word, 0))
			bytes += block.size;
	}
	return bytes;
}

void young_blocks_uncount(struct young_blocks *young, const struct memleak_block_key *key)
{
	size_t place = block__hash(key) & (young->held_cnt * MEMLEAK_HELD_IN_LINE - 1);

	__sync_fetch_and_sub(
		&young->held[place / MEMLEAK_HELD_IN_LINE].cnt[place % MEMLEAK_HELD_IN_LINE], 1);
}
