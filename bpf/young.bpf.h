/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that were allocated a moment ago. Most are freed before long: they wait here, in memory
 * that costs no search, and only those that others push out are moved to the table.
 *
 * A bucket holds the blocks of one hash. A word for each says where the block is, 0 if there is
 * none; its low bits say what is being done with it, and are changed by compare and exchange, by
 * any CPU at any moment. A program that is interrupted at any place keeps nobody waiting.
 */
#ifndef YOUNG_BPF_H
#define YOUNG_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/blocks.bpf.h"
#include "bpf/masks.bpf.h"

/* config.young_mask + 1 buckets. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_young);
} young SEC(".maps");

/* NULL: all such blocks are in the table. Pages are looked for in parts, which only that can. */
static __always_inline struct memleak_young *young__bucket(const struct memleak_block_key *key)
{
	__u32 at = block__hash(key) & config.young_mask;

	if (key->domain != MEMLEAK_DOMAIN_USER && key->domain != MEMLEAK_DOMAIN_SLAB)
		return NULL;
	if (!config.young || !key->addr || key->addr & MEMLEAK_YOUNG_STATES)
		return NULL;
	return bpf_map_lookup_elem(&young, &at);
}

/*
 * One more than the place of a word that is the wanted one but for the bits of mask; 0: there is
 * none. Without branches: a verifier would follow each place by itself.
 */
static __always_inline __u64 young__find(const volatile struct memleak_young *bucket, __u64 wanted,
					 __u64 mask)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_YOUNG_BLOCKS; i++)
		found += (i + 1 - found) & mask_if_equal(bucket->words[i] & ~mask, wanted & ~mask);
	return found;
}

/* Whatever was written before is seen by whoever sees the word. */
static __always_inline void young__publish(__u64 *word, __u64 value)
{
	if (ARCH_STORES_IN_ORDER) {
		barrier();
		*(volatile __u64 *)word = value;
	} else {
		__sync_lock_test_and_set(word, value);
	}
}

static __always_inline void young__read(const struct memleak_young_block *kept,
					struct memleak_block *ret)
{
	ret->size = kept->size;
	ret->birth_ns = kept->birth_ns;
	ret->site = kept->site;
	ret->tid = kept->tid;
	ret->halved = 0;
}

/* Whether a block of the address has been freed, or may be, that is in the table or will be. */
static __always_inline bool young__is_dying(const struct memleak_young *bucket, __u64 addr)
{
	return young__find(bucket, addr | MEMLEAK_YOUNG_MOVING, 0) |
	       young__find(bucket, addr | MEMLEAK_YOUNG_DEAD, 0);
}

/* A free place, which gets the given word; MEMLEAK_YOUNG_BLOCKS or more: there is none. */
static __always_inline __u32 young__claim(struct memleak_young *bucket, __u64 word)
{
	__u32 place = young__find(bucket, 0, 0) - 1;

	if (place < MEMLEAK_YOUNG_BLOCKS &&
	    __sync_val_compare_and_swap(&bucket->words[place], 0, word))
		return MEMLEAK_YOUNG_BLOCKS;
	return place;
}

/*
 * Begins to move the oldest block to the table; returns its place, MEMLEAK_YOUNG_BLOCKS: it cannot
 * be moved now.
 *
 * It may be freed meanwhile, which marks it dead, and its address handed out again. Then the table
 * has the dead one for a moment: no other block of that address may go there.
 */
static __always_inline __u32 young__push_out(struct memleak_young *bucket,
					     struct memleak_block_key *key,
					     struct memleak_block *block)
{
	__u32 place = bucket->oldest;
	__u64 addr, moving;

	barrier_var(place);
	if (place >= MEMLEAK_YOUNG_BLOCKS)
		place = 0;
	bucket->oldest = place + 1;
	addr = *(volatile __u64 *)&bucket->words[place];
	moving = addr | MEMLEAK_YOUNG_MOVING;
	if (!addr || addr & MEMLEAK_YOUNG_STATES || young__is_dying(bucket, addr) ||
	    __sync_val_compare_and_swap(&bucket->words[place], addr, moving) != addr)
		return MEMLEAK_YOUNG_BLOCKS;
	key->addr = addr;
	key->image = bucket->blocks[place].image;
	young__read(&bucket->blocks[place], block);
	return place;
}

/*
 * The block is in the table, if it was stored; its place gets the given word. Totals of sites are
 * of all blocks with -C, and else of those in the table.
 */
static __always_inline void young__moved(struct memleak_young *bucket, __u32 place, __u64 word,
					 const struct memleak_block_key *key,
					 struct memleak_block *block, bool stored)
{
	__u64 moving = key->addr | MEMLEAK_YOUNG_MOVING;

	if (stored != config.combined_only)
		block__credit(block, stored ? 1 : -1);
	if (__sync_val_compare_and_swap(&bucket->words[place], moving, word) == moving)
		return;
	if (stored)
		table__take(key, block);
	young__publish(&bucket->words[place], word);
}

static __always_inline void young__write(struct memleak_young *bucket, __u32 place,
					 const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	struct memleak_young_block *kept = &bucket->blocks[place];

	kept->size = block->size;
	kept->birth_ns = block->birth_ns;
	kept->site = block->site;
	kept->tid = block->tid;
	kept->image = key->image;
	young__publish(&bucket->words[place], key->addr);
}

/* The same for a block of which others of the same address may be near, of other processes. */
static __always_inline __u64 young__find_block(const volatile struct memleak_young *bucket,
					       __u64 word, __u32 image)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_YOUNG_BLOCKS; i++) {
		__u64 same = mask_if_equal(bucket->words[i], word) &
			     mask_if_equal(bucket->blocks[i].image, image);

		found += (i + 1 - found) & same;
	}
	return found;
}

/* Changes the word of a place whose block is copied before: its place may be another's at once. */
static __always_inline bool young__take_from(struct memleak_young *bucket, __u32 place, __u64 word,
					     __u64 next, struct memleak_block *ret)
{
	if (place >= MEMLEAK_YOUNG_BLOCKS)
		return false;
	young__read(&bucket->blocks[place], ret);
	return __sync_val_compare_and_swap(&bucket->words[place], word, next) == word;
}

/*
 * Takes a block out. It is looked for in the order in which it goes: alive, on its way to the
 * table, and then the table is to be asked. On its way, its credit is left to whoever deletes it
 * there.
 */
static __always_inline bool young__take(struct memleak_young *bucket,
					const struct memleak_block_key *key,
					struct memleak_block *ret)
{
	__u64 addr = key->addr, moving = addr | MEMLEAK_YOUNG_MOVING;
	__u32 place = young__find(bucket, addr, MEMLEAK_YOUNG_STATES) - 1;

	if (place >= MEMLEAK_YOUNG_BLOCKS)
		return false;
	/* Most often there is one such address, and it is this block's. */
	if (bucket->blocks[place].image != key->image ||
	    !young__take_from(bucket, place, addr, 0, ret)) {
		place = young__find_block(bucket, addr, key->image) - 1;
		if (!young__take_from(bucket, place, addr, 0, ret)) {
			place = young__find_block(bucket, moving, key->image) - 1;
			return young__take_from(bucket, place, moving, addr | MEMLEAK_YOUNG_DEAD,
						ret);
		}
	}
	if (config.combined_only)
		block__credit(ret, -1);
	return true;
}

#endif
