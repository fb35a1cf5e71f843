/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recent-block cache: blocks that were allocated a moment ago. Most are freed before long: they
 * wait here, in memory that costs no search, and only those that others push out are moved to the
 * table.
 *
 * A bucket holds the blocks of one hash. A word for each says where the block is, 0 if there is
 * none; its low bits say what is being done with it, and are changed by compare and exchange, by
 * any CPU at any moment. A program that is interrupted at any place keeps nobody waiting.
 */
#ifndef BPF_RECENT_BLOCKS_BPF_H
#define BPF_RECENT_BLOCKS_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/blocks.bpf.h"
#include "bpf/masks.bpf.h"

/* The cache has config.recent_mask + 1 buckets. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_recent);
} recent SEC(".maps");

/*
 * NULL: all blocks of the kind are in the table. Pages are freed in parts, which only the table can
 * look for.
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
 * One more than the place of a word that is the wanted one but for the bits of mask; 0: there is
 * none. Without branches: a verifier would follow each place separately.
 */
static __always_inline __u64 recent__find(const volatile struct memleak_recent *bucket,
					  __u64 wanted, __u64 mask)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_RECENT_BLOCKS; i++)
		found += (i + 1 - found) & mask_if_equal(bucket->words[i] & ~mask, wanted & ~mask);
	return found;
}

/* Whoever sees the word sees all that was written before it. */
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

/*
 * Whether a block at the address has been freed, or may have been, while it is in the table or on
 * its way there.
 */
static __always_inline bool recent__is_dying(const struct memleak_recent *bucket, __u64 addr)
{
	return recent__find(bucket, addr | MEMLEAK_RECENT_MOVING, 0) |
	       recent__find(bucket, addr | MEMLEAK_RECENT_DEAD, 0);
}

/* Gives a free place the word; MEMLEAK_RECENT_BLOCKS or more: there is none. */
static __always_inline __u32 recent__claim(struct memleak_recent *bucket, __u64 word)
{
	__u32 place = recent__find(bucket, 0, 0) - 1;

	if (place < MEMLEAK_RECENT_BLOCKS &&
	    __sync_val_compare_and_swap(&bucket->words[place], 0, word))
		return MEMLEAK_RECENT_BLOCKS;
	return place;
}

/*
 * Begins to move the oldest block to the table; returns its place, MEMLEAK_RECENT_BLOCKS: it cannot
 * be moved now.
 *
 * It may be freed meanwhile, which marks it dead, and its address handed out again. Then the table
 * has the dead one for a moment: no other block of that address may go there.
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
 * The block is in the table, if it was stored; its place gets the word. The totals of sites count
 * all blocks with -C, and otherwise those of the table. False: it was freed meanwhile.
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
 * As recent__find, for a block near which there may be others of the same address, of other
 * processes.
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

/* Changes the word of a place. The block was copied before: the place may be another's at once. */
static __always_inline bool recent__take_from(struct memleak_recent *bucket, __u32 place,
					      __u64 word, __u64 next, struct memleak_block *ret)
{
	if (place >= MEMLEAK_RECENT_BLOCKS)
		return false;
	recent__read(&bucket->blocks[place], ret);
	return __sync_val_compare_and_swap(&bucket->words[place], word, next) == word;
}

/*
 * Takes a block out. It is looked for in the order in which it moves: among the living blocks, then
 * among those on their way to the table; after that the table is to be asked. The credit of a block
 * on its way is left to whoever deletes it from the table.
 */
static __always_inline bool recent__take(struct memleak_recent *bucket,
					 const struct memleak_block_key *key,
					 struct memleak_block *ret)
{
	__u64 addr = key->addr, moving = addr | MEMLEAK_RECENT_MOVING;
	__u32 place = recent__find(bucket, addr, MEMLEAK_RECENT_STATES) - 1;

	if (place >= MEMLEAK_RECENT_BLOCKS)
		return false;
	/* Most often one block has such an address, and it is this one. */
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
