// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads and drops blocks in the recent-block cache, which is memory shared with the BPF programs.
 */
#include "loader/tables/recent_blocks.h"

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

int recent_blocks_init(struct recent_blocks *recent, const struct bpf_object *object,
		       enum memleak_domain domain)
{
	int err = map_table(object, "recent", sizeof(*recent->buckets), (void **)&recent->buckets,
			    &recent->bucket_cnt);

	recent->domain = domain;
	if (!err)
		err = map_table(object, "filter", sizeof(*recent->filter), (void **)&recent->filter,
				&recent->filter_cnt);
	if (err)
		return err;
	recent->seen = calloc(recent->bucket_cnt, sizeof(*recent->seen));
	recent->seen_bits = calloc(recent->bucket_cnt, sizeof(*recent->seen_bits));
	return recent->seen && recent->seen_bits ? 0 : -ENOMEM;
}

void recent_blocks_deinit(struct recent_blocks *recent)
{
	if (recent->buckets)
		munmap(recent->buckets, whole_pages(recent->bucket_cnt * sizeof(*recent->buckets)));
	if (recent->filter)
		munmap(recent->filter, whole_pages(recent->filter_cnt * sizeof(*recent->filter)));
	free(recent->seen);
	free(recent->seen_bits);
	*recent = (struct recent_blocks){0};
}

/* Returns the block address in a word of a bucket; 0 if the word belongs to no live block. */
static uint64_t live_address(uint64_t word)
{
	uint64_t state = word & MEMLEAK_RECENT_STATES;

	return state && state != MEMLEAK_RECENT_MOVING ? 0 : word & ~MEMLEAK_RECENT_STATES;
}

/*
 * Copies the block at a place in the bucket. Returns the block's address, or 0 if the place has no
 * live block. The BPF programs may put another block there during the copy, even one with the same
 * address. Therefore the copy is repeated until two copies in a row are equal.
 */
static uint64_t read_block(const struct memleak_recent *bucket, size_t place,
			   struct memleak_recent_block *ret)
{
	const uint64_t *word = (const uint64_t *)&bucket->words[place];
	struct memleak_recent_block last;
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

/* Returns the bit of a block in its bucket's word of seen_bits. */
static uint64_t bit_of(const struct memleak_block_key *key)
{
	return UINT64_C(1) << (block__hash(key) >> 26);
}

static void read_bucket(const struct memleak_recent *bucket, struct memleak_recent *ret)
{
	for (size_t i = 0; i < MEMLEAK_RECENT_BLOCKS; i++)
		ret->words[i] = read_block(bucket, i, &ret->blocks[i]);
}

int recent_blocks_walk(struct recent_blocks *recent, volatile uint32_t *read_cnt,
		       int (*element)(void *arg, const void *key, const void *value), void *arg)
{
	for (size_t i = 0; i < recent->bucket_cnt; i++) {
		read_bucket(&recent->buckets[i], &recent->seen[i]);
		recent->seen_bits[i] = 0;
		if (read_cnt)
			*read_cnt = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < recent->bucket_cnt * MEMLEAK_RECENT_BLOCKS; i++) {
		const struct memleak_recent *bucket = &recent->seen[i / MEMLEAK_RECENT_BLOCKS];
		size_t place = i % MEMLEAK_RECENT_BLOCKS;
		const struct memleak_recent_block *kept = &bucket->blocks[place];
		const struct memleak_block_key key = {
			.addr = bucket->words[place],
			.image = kept->image,
			.domain = recent->domain,
		};
		const struct memleak_block block = {
			.size = kept->size,
			.birth_ns = kept->birth_ns,
			.site = kept->site,
			.tid = kept->tid,
		};
		int err;

		if (!key.addr)
			continue;
		recent->seen_bits[i / MEMLEAK_RECENT_BLOCKS] |= bit_of(&key);
		err = element(arg, &key, &block);
		if (err)
			return err;
	}
	return 0;
}

bool recent_blocks_visited(const struct recent_blocks *recent, const struct memleak_block_key *key)
{
	size_t at = block__hash(key) & (recent->bucket_cnt - 1);
	const struct memleak_recent *bucket = &recent->seen[at];

	if (!(recent->seen_bits[at] & bit_of(key)))
		return false;
	for (size_t i = 0; i < MEMLEAK_RECENT_BLOCKS; i++)
		if (bucket->words[i] == key->addr && bucket->blocks[i].image == key->image)
			return key->domain == recent->domain;
	return false;
}

void recent_blocks_count(const struct recent_blocks *recent, uint64_t *ret_recent,
			 uint64_t *ret_filter)
{
	uint64_t live = 0, filter = 0;

	for (size_t i = 0; i < recent->bucket_cnt * MEMLEAK_RECENT_BLOCKS; i++)
		live += __atomic_load_n(&recent->buckets[i / MEMLEAK_RECENT_BLOCKS]
						 .words[i % MEMLEAK_RECENT_BLOCKS],
					__ATOMIC_RELAXED) != 0;
	for (size_t i = 0; i < recent->filter_cnt * MEMLEAK_FILTER_IN_LINE; i++)
		filter += __atomic_load_n(
			&recent->filter[i / MEMLEAK_FILTER_IN_LINE].cnt[i % MEMLEAK_FILTER_IN_LINE],
			__ATOMIC_RELAXED);
	*ret_recent = live;
	*ret_filter = filter;
}

uint64_t recent_blocks_purge(struct recent_blocks *recent, const struct image_set *images)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < recent->bucket_cnt * MEMLEAK_RECENT_BLOCKS; i++) {
		struct memleak_recent *bucket = &recent->buckets[i / MEMLEAK_RECENT_BLOCKS];
		size_t place = i % MEMLEAK_RECENT_BLOCKS;
		struct memleak_recent_block block;
		uint64_t word = read_block(bucket, place, &block);

		if (word && image_set_has(images, block.image) &&
		    __sync_bool_compare_and_swap(&bucket->words[place], word, 0))
			bytes += block.size;
	}
	return bytes;
}

void recent_blocks_uncount(struct recent_blocks *recent, const struct memleak_block_key *key)
{
	size_t place = block__hash(key) & (recent->filter_cnt * MEMLEAK_FILTER_IN_LINE - 1);

	__sync_fetch_and_sub(
		&recent->filter[place / MEMLEAK_FILTER_IN_LINE].cnt[place % MEMLEAK_FILTER_IN_LINE],
		1);
}
