/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recent-block cache, for blocks that were just allocated. Most blocks are freed soon, while
 * they are still in this cache, where they are found without a search. Only blocks that are evicted
 * by newer blocks move to the block table.
 *
 * A bucket contains the blocks of one hash, with a word for each block. The word is the block's
 * address, or 0; its low bits are the block's state. Words are changed by compare-and-exchange, by
 * any CPU at any time. No program ever waits for a program that was interrupted.
 */
#ifndef BPF_RECENT_BLOCKS_BPF_H
#define BPF_RECENT_BLOCKS_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/blocks.bpf.h"
#include "bpf/masks.bpf.h"

/* The cache, with config.recent_mask + 1 buckets. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_recent);
} recent SEC(".maps");

/*
 * Returns the bucket for a block; NULL if the cache is not used, or not for blocks of this kind. It
 * is not used for pages: they are freed in parts, and only the block table finds a part's block.
 */
static __always_inline struct memleak_recent *recent__bucket(const struct memleak_block_key *key)
{
	__u32 at = block__hash(key) & config.recent_mask;

	if (key->domain != MEMLEAK_DOMAIN_USER && key->domain != MEMLEAK_DOMAIN_SLAB)
		return NULL;
	if (!config.recent || !key->addr || key->addr & MEMLEAK_RECENT_STATES)
		return NULL;
	return bpf_map_lookup_elem(&recent, &at);
}

/*
 * Returns 1 + the index of the bucket's last word that equals `wanted` in all bits but those in
 * `mask`; 0 if there is no such word. Branch-free: a verifier would follow both sides of each
 * branch.
 */
static __always_inline __u64 recent__find(const volatile struct memleak_recent *bucket,
					  __u64 wanted, __u64 mask)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_RECENT_BLOCKS; i++)
		found += (i + 1 - found) & mask_if_equal(bucket->words[i] & ~mask, wanted & ~mask);
	return found;
}

/* Stores a word so that a reader of the word also sees all earlier writes. */
static __always_inline void recent__publish(__u64 *word, __u64 value)
{
	if (ARCH_STORES_IN_ORDER) {
		barrier();
		*(volatile __u64 *)word = value;
	} else {
		__sync_lock_test_and_set(word, value);
	}
}

static __always_inline void recent__read(const struct memleak_recent_block *kept,
					 struct memleak_block *ret)
{
	ret->size = kept->size;
	ret->birth_ns = kept->birth_ns;
	ret->site = kept->site;
	ret->tid = kept->tid;
	ret->halved = 0;
}

/* True if a block at the address is being moved to the block table, or was freed meanwhile. */
static __always_inline bool recent__is_dying(const struct memleak_recent *bucket, __u64 addr)
{
	return recent__find(bucket, addr | MEMLEAK_RECENT_MOVING, 0) |
	       recent__find(bucket, addr | MEMLEAK_RECENT_DEAD, 0);
}

/*
 * Stores the word in a free place of the bucket. Returns the place; MEMLEAK_RECENT_BLOCKS or more
 * if none is free.
 */
static __always_inline __u32 recent__claim(struct memleak_recent *bucket, __u64 word)
{
	__u32 place = recent__find(bucket, 0, 0) - 1;

	if (place < MEMLEAK_RECENT_BLOCKS &&
	    __sync_val_compare_and_swap(&bucket->words[place], 0, word))
		return MEMLEAK_RECENT_BLOCKS;
	return place;
}

/*
 * Begins to move the bucket's oldest block to the block table. Returns the block's place, or
 * MEMLEAK_RECENT_BLOCKS if the block cannot be moved now.
 *
 * If the block is freed before its move ends, it is marked dead, and its address may be reused. The
 * table then contains the dead block for a moment; until it is removed, no other block with its
 * address may be moved to the table.
 */
static __always_inline __u32 recent__push_out(struct memleak_recent *bucket,
					      struct memleak_block_key *key,
					      struct memleak_block *block)
{
	__u32 place = bucket->oldest;
	__u64 addr, moving;

	barrier_var(place);
	if (place >= MEMLEAK_RECENT_BLOCKS)
		place = 0;
	bucket->oldest = place + 1;
	addr = *(volatile __u64 *)&bucket->words[place];
	moving = addr | MEMLEAK_RECENT_MOVING;
	if (!addr || addr & MEMLEAK_RECENT_STATES || recent__is_dying(bucket, addr) ||
	    __sync_val_compare_and_swap(&bucket->words[place], addr, moving) != addr)
		return MEMLEAK_RECENT_BLOCKS;
	key->addr = addr;
	key->image = bucket->blocks[place].image;
	recent__read(&bucket->blocks[place], block);
	return place;
}

/*
 * Ends the move of a block, and sets its word in the bucket to `word`. `stored`: whether the block
 * is now in the block table. With -C, the totals of sites include all blocks, otherwise only the
 * blocks in the block table. Returns false if the block was freed during its move.
 */
static __always_inline bool recent__moved(struct memleak_recent *bucket, __u32 place, __u64 word,
					  const struct memleak_block_key *key,
					  struct memleak_block *block, bool stored)
{
	__u64 moving = key->addr | MEMLEAK_RECENT_MOVING;

	if (stored != config.combined_only)
		block__credit(block, stored ? 1 : -1);
	if (__sync_val_compare_and_swap(&bucket->words[place], moving, word) == moving)
		return true;
	if (stored)
		table__take(key, block);
	recent__publish(&bucket->words[place], word);
	return false;
}

static __always_inline void recent__write(struct memleak_recent *bucket, __u32 place,
					  const struct memleak_block_key *key,
					  const struct memleak_block *block)
{
	struct memleak_recent_block *kept = &bucket->blocks[place];

	kept->size = block->size;
	kept->birth_ns = block->birth_ns;
	kept->site = block->site;
	kept->tid = block->tid;
	kept->image = key->image;
	recent__publish(&bucket->words[place], key->addr);
}

/*
 * Like recent__find(), but also compares the image: blocks of other processes may have the same
 * address.
 */
static __always_inline __u64 recent__find_block(const volatile struct memleak_recent *bucket,
						__u64 word, __u32 image)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_RECENT_BLOCKS; i++) {
		__u64 same = mask_if_equal(bucket->words[i], word) &
			     mask_if_equal(bucket->blocks[i].image, image);

		found += (i + 1 - found) & same;
	}
	return found;
}

/*
 * Removes a block from the bucket, by changing the word at `place` from `word` to `next`. False if
 * that word is no longer `word`. Copies the block to *ret first, because its place may be reused
 * right after.
 */
static __always_inline bool recent__take_from(struct memleak_recent *bucket, __u32 place,
					      __u64 word, __u64 next, struct memleak_block *ret)
{
	if (place >= MEMLEAK_RECENT_BLOCKS)
		return false;
	recent__read(&bucket->blocks[place], ret);
	return __sync_val_compare_and_swap(&bucket->words[place], word, next) == word;
}

/*
 * Takes a block out of the cache. Searches in the order in which blocks move: first live blocks,
 * then blocks being moved. If this returns false, the caller searches the block table. The site of
 * a block being moved is debited by the program that moves it.
 */
static __always_inline bool recent__take(struct memleak_recent *bucket,
					 const struct memleak_block_key *key,
					 struct memleak_block *ret)
{
	__u64 addr = key->addr, moving = addr | MEMLEAK_RECENT_MOVING;
	__u32 place = recent__find(bucket, addr, MEMLEAK_RECENT_STATES) - 1;

	if (place >= MEMLEAK_RECENT_BLOCKS)
		return false;
	/* Usually only one block has this address: comparing images is rarely needed. */
	if (bucket->blocks[place].image != key->image ||
	    !recent__take_from(bucket, place, addr, 0, ret)) {
		place = recent__find_block(bucket, addr, key->image) - 1;
		if (!recent__take_from(bucket, place, addr, 0, ret)) {
			place = recent__find_block(bucket, moving, key->image) - 1;
			return recent__take_from(bucket, place, moving, addr | MEMLEAK_RECENT_DEAD,
						 ret);
		}
	}
	if (config.combined_only)
		block__credit(ret, -1);
	return true;
}

#endif
