// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the cache of recent blocks, compiled as native code. A block is freed at each step of its
 * move from the cache to the table of blocks; tests that trace programs rarely hit these steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/bpf.h>
#include <stdbool.h>

/* Replaces the definitions in bpf/compat.bpf.h, bpf/arch.bpf.h and bpf/blocks.bpf.h. */
#define BPF_COMPAT_BPF_H
#define BPF_ARCH_BPF_H
#define BPF_BLOCKS_BPF_H
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#define ARCH_STORES_IN_ORDER 0

#include "bpf/block_tables.h"

static struct memleak_config config = {.recent = true};
static struct memleak_recent the_bucket;
static int64_t credited;    /* number of blocks that are in the totals of sites */
static size_t taken_cnt;    /* blocks removed from the table */
static uint64_t taken_addr; /* address of the last block removed from the table */

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	return &the_bucket;
}

static void block__credit(const struct memleak_block *block, int64_t sign)
{
	credited += sign;
}

static bool table__take(const struct memleak_block_key *key, struct memleak_block *ret)
{
	taken_cnt++;
	taken_addr = key->addr;
	block__credit(ret, -1);
	return true;
}

#include "bpf/recent_blocks.bpf.h"

#define IMAGE 7

static struct memleak_block_key key_of(uint64_t addr, uint32_t image)
{
	return (struct memleak_block_key){
		.addr = addr,
		.image = image,
		.domain = MEMLEAK_DOMAIN_USER,
	};
}

static void store(uint64_t addr, uint32_t image)
{
	const struct memleak_block_key key = key_of(addr, image);
	const struct memleak_block block = {.size = addr + image, .site = 1};
	uint32_t place = recent__claim(&the_bucket, addr | MEMLEAK_RECENT_WRITING);

	assert_true(place < MEMLEAK_RECENT_BLOCKS);
	recent__write(&the_bucket, place, &key, &block);
}

/* Takes a block out of the cache; returns its size, or 0 if the cache does not have it. */
static uint64_t take(uint64_t addr, uint32_t image)
{
	const struct memleak_block_key key = key_of(addr, image);
	struct memleak_block block = {0};

	return recent__take(&the_bucket, &key, &block) ? block.size : 0;
}

/*
 * Fills the bucket from its last index to its first, with blocks at falling addresses: 0x1000 has
 * the first index, and is moved first.
 */
static int fill(void **state)
{
	memset(&the_bucket, 0, sizeof(the_bucket));
	credited = 0;
	taken_cnt = 0;
	for (uint64_t i = MEMLEAK_RECENT_BLOCKS; i > 0; i--)
		store(i * 0x1000, IMAGE);
	return 0;
}

/* Begins to move the oldest block, which is at 0x1000, to the table. */
static uint32_t begin_move(struct memleak_block_key *key, struct memleak_block *block)
{
	uint32_t place;

	*key = key_of(0x9000, IMAGE);
	place = recent__push_out(&the_bucket, key, block);
	assert_true(place < MEMLEAK_RECENT_BLOCKS);
	assert_true(key->addr == 0x1000);
	assert_true(block->size == 0x1000 + IMAGE);
	return place;
}

/*
 * Ends the move. The block at 0x9000 takes the place of the moved block. Returns false if the moved
 * block was freed meanwhile.
 */
static bool end_move(uint32_t place, const struct memleak_block_key *key,
		     struct memleak_block *block, bool stored)
{
	return recent__moved(&the_bucket, place, 0x9000 | MEMLEAK_RECENT_WRITING, key, block,
			     stored);
}

static void freed_before(void **state)
{
	assert_true(take(0x1000, IMAGE) == 0x1000 + IMAGE);
	assert_true(take(0x1000, IMAGE) == 0);
	assert_true(take(0x2000, IMAGE) == 0x2000 + IMAGE);
}

static void not_freed(void **state)
{
	struct memleak_block_key key;
	struct memleak_block block;
	uint32_t place = begin_move(&key, &block);

	assert_true(end_move(place, &key, &block, true));
	assert_true(take(0x1000, IMAGE) == 0);
	assert_true(credited == 1);
	assert_true(taken_cnt == 0);
}

/*
 * A block is freed while it is moved: the free must find it in the cache. If the mover has already
 * stored it in the table, the mover must remove it again.
 */
static void freed_while_moving(void **state)
{
	for (int stored = 0; stored < 2; stored++) {
		struct memleak_block_key key;
		struct memleak_block block;
		uint32_t place;

		fill(state);
		place = begin_move(&key, &block);
		assert_true(take(0x1000, IMAGE) == 0x1000 + IMAGE);
		assert_true(take(0x1000, IMAGE) == 0); /* a block is found only once */
		assert_false(end_move(place, &key, &block, stored));
		assert_true(credited == 0);
		assert_true(taken_cnt == (size_t)stored);
		assert_true(!stored || taken_addr == 0x1000);
		assert_true(the_bucket.words[place] == (0x9000 | MEMLEAK_RECENT_WRITING));
	}
}

/*
 * A block is freed during its move, and a new block gets its address. The new block is not moved to
 * the table until the earlier move has ended.
 */
static void address_used_again(void **state)
{
	struct memleak_block_key key, other = key_of(0x9000, IMAGE);
	struct memleak_block block, other_block;
	uint32_t place = begin_move(&key, &block);

	assert_true(take(0x1000, IMAGE) == 0x1000 + IMAGE);
	assert_true(take(0x2000, IMAGE) == 0x2000 + IMAGE);
	store(0x1000, IMAGE);
	assert_true(recent__is_dying(&the_bucket, 0x1000));
	assert_true(recent__push_out(&the_bucket, &other, &other_block) >= MEMLEAK_RECENT_BLOCKS);
	assert_false(end_move(place, &key, &block, true));
	assert_false(recent__is_dying(&the_bucket, 0x1000));
	assert_true(take(0x1000, IMAGE) == 0x1000 + IMAGE);
}

/*
 * Two processes have blocks at the same address, and one of the blocks is moved. A free must find
 * the block of its own process.
 */
static void two_images(void **state)
{
	struct memleak_block_key key;
	struct memleak_block block;
	uint32_t place;

	assert_true(take(0x6000, IMAGE) == 0x6000 + IMAGE);
	store(0x1000, IMAGE + 1);
	place = begin_move(&key, &block);
	assert_true(take(0x1000, IMAGE + 1) == 0x1000 + IMAGE + 1);
	assert_true(take(0x1000, IMAGE) == 0x1000 + IMAGE);
	assert_true(take(0x1000, IMAGE + 2) == 0);
	assert_false(end_move(place, &key, &block, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(freed_before, fill),
		cmocka_unit_test_setup(not_freed, fill),
		cmocka_unit_test_setup(freed_while_moving, fill),
		cmocka_unit_test_setup(address_used_again, fill),
		cmocka_unit_test_setup(two_images, fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
