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

/* config.young_mask + 1 buckets. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_young);
} young SEC(".maps");

static __always_inline struct memleak_young *young__bucket(const struct memleak_block_key *key)
{
	__u32 at = block__hash(key) & config.young_mask;

	return bpf_map_lookup_elem(&young, &at);
}

/* Pages of the kernel are looked for in parts, which only the table can. */
static __always_inline bool young__takes(const struct memleak_block_key *key)
{
	return config.young && key->addr && !(key->addr & MEMLEAK_YOUNG_STATES) &&
	       key->domain == config.young_domain;
}

/*
 * One more than the place of a word that is the wanted one but for the bits of mask; 0: there is
 * none. Without branches: a verifier would follow each place by itself.
 */
static __always_inline __u64 young__find(const volatile struct memleak_young *bucket, __u64 wanted,
					 __u64 mask)
{
	__u64 found = 0;

	for (__u64 i = 0; i < MEMLEAK_YOUNG_BLOCKS; i++) {
		__u64 differs = (bucket->words[i] ^ wanted) & ~mask, negative = -differs, same;

		barrier_var(negative); /* else compilers see a comparison, and branch */
		same = ~(__u64)((__s64)(differs | negative) >> 63);
		barrier_var(same);
		found += (i + 1 - found) & same;
	}
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

/* Copies a block; returns its image. */
static __always_inline __u32 young__read(const struct memleak_young_block *kept,
					 struct memleak_block *ret)
{
	ret->size = kept->size;
	ret->birth_ns = kept->birth_ns;
	ret->site = kept->site;
	ret->tid = kept->tid;
	ret->halved = 0;
	return kept->image;
}

/*
 * Moves a block to the table; its place is then the caller's, with the given word. False: it
 * cannot be moved now.
 *
 * The block may be freed meanwhile, which marks it dead, and its address handed out again. Then
 * the table has the dead one for a moment: no other block of that address may go there.
 */
static __always_inline bool young__move(struct memleak_young *bucket, __u32 place, __u64 word)
{
	__u64 addr = *(volatile __u64 *)&bucket->words[place], moving = addr | MEMLEAK_YOUNG_MOVING;
	struct memleak_block_key key = {.addr = addr, .domain = config.young_domain};
	struct memleak_block block;
	bool stored;

	if (addr & MEMLEAK_YOUNG_STATES || young__find(bucket, moving, 0) ||
	    young__find(bucket, addr | MEMLEAK_YOUNG_DEAD, 0) ||
	    __sync_val_compare_and_swap(&bucket->words[place], addr, moving) != addr)
		return false;
	key.image = young__read(&bucket->blocks[place], &block);
	stored = table__store(&key, &block);
	if (stored != config.combined_only)
		block__credit(&block, stored ? 1 : -1);
	if (__sync_val_compare_and_swap(&bucket->words[place], moving, word) != moving) {
		if (stored)
			table__take(&key, &block);
		young__publish(&bucket->words[place], word);
	}
	return true;
}

/* A place for a block, marked with the given word: one that is free, or that another leaves. */
static __always_inline bool young__make_room(struct memleak_young *bucket, __u64 word, __u32 *place)
{
	__u32 free = young__find(bucket, 0, 0);

	*place = free - 1;
	if (*place < MEMLEAK_YOUNG_BLOCKS)
		return !__sync_val_compare_and_swap(&bucket->words[*place], 0, word);
	*place = bucket->oldest;
	barrier_var(*place);
	if (*place >= MEMLEAK_YOUNG_BLOCKS)
		*place = 0;
	bucket->oldest = *place + 1;
	return young__move(bucket, *place, word);
}

/* Keeps a block; false: it has to go to the table. No other of its address is alive. */
static __always_inline bool young__put(const struct memleak_block_key *key,
				       const struct memleak_block *block)
{
	__u64 word = key->addr | MEMLEAK_YOUNG_WRITING;
	struct memleak_young *bucket;
	bool dying = false;
	__u32 place;

	if (!young__takes(key))
		return false;
	bucket = young__bucket(key);
	if (!bucket)
		return false;
	place = young__find(bucket, key->addr, MEMLEAK_YOUNG_STATES) - 1;
	if (place < MEMLEAK_YOUNG_BLOCKS) {
		/* Another process's; or a dead one, whose way to the table may not be over. */
		if (bucket->blocks[place].image != key->image)
			return false;
		dying = true;
	}
	if (!young__make_room(bucket, word, &place) || place >= MEMLEAK_YOUNG_BLOCKS) {
		if (dying)
			count(MEMLEAK_LOST_NO_MEMORY, 1);
		return dying;
	}
	bucket->blocks[place].size = block->size;
	bucket->blocks[place].birth_ns = block->birth_ns;
	bucket->blocks[place].site = block->site;
	bucket->blocks[place].tid = block->tid;
	bucket->blocks[place].image = key->image;
	young__publish(&bucket->words[place], key->addr);
	return true;
}

/* Takes a block out. Its place is free at once, so it is copied before. */
static __always_inline bool young__take(const struct memleak_block_key *key,
					struct memleak_block *ret)
{
	__u64 addr = key->addr, next = 0;
	struct memleak_young *bucket;
	__u32 place;

	if (!young__takes(key))
		return false;
	bucket = young__bucket(key);
	if (!bucket)
		return false;
	place = young__find(bucket, addr, 0) - 1;
	if (place >= MEMLEAK_YOUNG_BLOCKS) {
		addr |= MEMLEAK_YOUNG_MOVING;
		next = key->addr | MEMLEAK_YOUNG_DEAD;
		place = young__find(bucket, addr, 0) - 1;
		if (place >= MEMLEAK_YOUNG_BLOCKS)
			return false;
	}
	return young__read(&bucket->blocks[place], ret) == key->image &&
	       __sync_val_compare_and_swap(&bucket->words[place], addr, next) == addr;
}

#endif
