/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records outstanding blocks, their sites, and losses. Included by the BPF programs for user memory
 * and those for kernel memory, which have separate maps.
 */
#ifndef BPF_TRACK_BPF_H
#define BPF_TRACK_BPF_H

#include "bpf/exponential.h"
#include "bpf/recent_blocks.bpf.h"

/*
 * False until all probes are attached: a call that triggers only some would record a wrong block.
 */
volatile bool tracking;

/* The stack table. The loader sets max_entries and value_size before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, sizeof(struct memleak_stack) + 8);
} stacks SEC(".maps");

/*
 * Maximum number of frames that are dropped at the start of a walk: frames of tracing, and of the
 * kernel code that starts it.
 */
#define TRACING_FRAMES 8

/* A captured stack: a struct memleak_stack begins at words[0] or words[1]. */
struct stack_buffer {
	__u64 hash;
	__u32 first; /* index of the word where the struct begins: 0 or 1 */
	__u32 reserved;
	__u64 words[2 + MEMLEAK_MAX_STACK_DEPTH + TRACING_FRAMES];
};

volatile struct memleak_stack_watch stack_watch;

/*
 * Returns the address of an event's arguments as a number. Copies the pointer through memory, since
 * the verifier does not allow arithmetic on a pointer.
 */
static __always_inline __u64 place__of(const void *ctx)
{
	__u64 place = 0;

	bpf_probe_read_kernel(&place, sizeof(place), &ctx);
	return place;
}

static __always_inline __u32 place__hash(const void *ctx, __u32 bits)
{
	return (place__of(ctx) * 0x9e3779b97f4a7c15ULL) >> (64 - bits);
}

static __always_inline long stack__store(struct stack_buffer *buf)
{
	long err;

	if (bpf_map_lookup_elem(&stacks, &buf->hash))
		return 0;
	if (buf->first)
		err = bpf_map_update_elem(&stacks, &buf->hash, &buf->words[1], BPF_ANY);
	else
		err = bpf_map_update_elem(&stacks, &buf->hash, &buf->words[0], BPF_ANY);
	if (!err) {
		count(MEMLEAK_STAT_STACKS, 1);
		__sync_fetch_and_add(&stack_watch.stored, 1);
	}
	return err;
}

static __always_inline struct memleak_site *site__create(__u64 id, __u64 stack, __u32 image,
							 __u32 kind)
{
	struct memleak_site site = {.stack = stack, .image = image, .kind = kind};

	bpf_map_update_elem(&sites, &id, &site, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sites, &id);
}

/*
 * Returns the site of a captured stack, creating it if needed; NULL if the site table is full. If
 * the stack table is full, the loss is counted, and blocks are credited to the image's site with
 * unknown stack, so that totals stay correct.
 */
static __always_inline struct memleak_site *site__get(struct stack_buffer *buf, __u32 image,
						      __u32 kind, __u64 *id)
{
	struct memleak_site *site;
	__u64 stack = buf->hash;

	*id = site__id(stack, image, kind);
	site = bpf_map_lookup_elem(&sites, id);
	if (site)
		return site;

	if (stack__store(buf)) {
		count(MEMLEAK_LOST_STACKS_FULL, 1);
		stack = 0;
		*id = site__id(stack, image, kind);
		site = bpf_map_lookup_elem(&sites, id);
		if (site)
			return site;
	}
	site = site__create(*id, stack, image, kind);
	if (!site)
		count(MEMLEAK_LOST_SITES_FULL, 1);
	return site;
}

volatile struct memleak_peak_watch peak_watch;

static __always_inline void peak__add(__u64 size)
{
	__u64 total;

	if (!config.peak)
		return;
	__sync_fetch_and_add(&peak_watch.total, size);
	total = peak_watch.total;
	if ((__s64)total > (__s64)peak_watch.highest)
		peak_watch.highest = total;
}

static __always_inline void peak__sub(__u64 size)
{
	if (config.peak)
		__sync_fetch_and_add(&peak_watch.total, -size);
}

/* Takes a block out of the recent-block cache or the block table. False if in neither. */
static __always_inline bool block__take(const struct memleak_block_key *key,
					struct memleak_block *ret)
{
	struct memleak_recent *bucket = recent__bucket(key);

	bool found = (bucket && recent__take(bucket, key, ret)) ||
		     (table__may_have(key) && table__take(key, ret));

	if (found)
		peak__sub(ret->size);
	return found;
}

/*
 * Evicts the bucket's oldest block to the block table, and stores the new block in its place. If
 * there is no bucket, or its oldest block cannot be moved now, stores the new block in the block
 * table. But if an earlier block with its address is still being moved there, the new block is
 * lost.
 */
static __always_inline void block__place(struct memleak_recent *bucket,
					 const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	struct memleak_block_key out_key = *key;
	struct memleak_block out = *block;
	__u32 place = MEMLEAK_RECENT_BLOCKS;
	__u64 lost_bytes;
	bool stored;

	if (bucket)
		place = recent__push_out(bucket, &out_key, &out);
	if (bucket && place >= MEMLEAK_RECENT_BLOCKS && recent__is_dying(bucket, key->addr)) {
		count(MEMLEAK_LOST_NO_MEMORY, 1);
		peak__sub(block->size);
		return;
	}
	stored = table__store(&out_key, &out);
	lost_bytes = stored ? 0 : out.size;
	if (bucket && place < MEMLEAK_RECENT_BLOCKS) {
		/*
		 * If the block was freed while it was being evicted, the free has already
		 * subtracted the block from the total of --peak.
		 */
		if (!recent__moved(bucket, place, key->addr | MEMLEAK_RECENT_WRITING, &out_key,
				   &out, stored))
			lost_bytes = 0;
		recent__write(bucket, place, key, block);
		stored = config.combined_only;
	}
	peak__sub(lost_bytes);
	if (stored)
		block__credit(block, 1);
}

/*
 * True unless it is certain that the block is not tracked. Checks only the recent-block cache and
 * the counting filter, which is quick.
 */
static __always_inline bool block__may_be_held(const struct memleak_block_key *key)
{
	struct memleak_recent *bucket = recent__bucket(key);

	return (bucket && recent__find(bucket, key->addr, MEMLEAK_RECENT_STATES)) ||
	       table__may_have(key);
}

/*
 * Removes a stale block, whose free was missed, at an address that was just allocated. Returns the
 * block's size; 0 if there is none.
 */
static __always_inline __u64 block__repair(const struct memleak_block_key *key)
{
	struct memleak_block old;

	if (!block__take(key, &old))
		return 0;
	count(MEMLEAK_STAT_REPLACED, 1);
	return old.size;
}

/* Stores a block at an address for which no block is stored. */
static __always_inline void block__store(const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	struct memleak_recent *bucket = recent__bucket(key);
	__u32 place = MEMLEAK_RECENT_BLOCKS;

	peak__add(block->size);
	if (bucket)
		place = recent__claim(bucket, key->addr | MEMLEAK_RECENT_WRITING);
	if (!bucket || place >= MEMLEAK_RECENT_BLOCKS) {
		block__place(bucket, key, block);
		return;
	}
	recent__write(bucket, place, key, block);
	if (config.combined_only)
		block__credit(block, 1);
}

/* True if an allocation of this size passes the size filters, and all probes are attached. */
static __always_inline bool wanted(__u64 size)
{
	return tracking && size >= config.min_size && size <= config.max_size;
}

static __always_inline __u64 random_bits(void)
{
	return (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
}

/* True if the next sample lies in the allocation. `left`: countdown; mean: of distances in bytes.
 */
static __always_inline bool sampled(__u64 size, __u64 *left, __u64 mean)
{
	if (!*left)
		*left = exponential_draw(random_bits(), mean);
	return countdown__ends(left, size);
}

/*
 * True if the size is wanted() and the allocation is sampled. `left`: countdown of --sample-bytes.
 */
static __always_inline bool chosen(__u64 size, __u64 *left)
{
	if (!wanted(size))
		return false;
	if (config.sample_bytes)
		return left && sampled(size, left, config.sample_bytes);
	return config.sample_rate == 1 || bpf_get_prandom_u32() % config.sample_rate == 0;
}

#endif
