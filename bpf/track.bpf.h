/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracking, the same for user and kernel memory: which blocks are outstanding, which site holds
 * them, and a count of whatever was lost. Inlined into each BPF object, which so has maps of its
 * own.
 *
 * Two rules keep the totals exact: a site is credited only after the block was stored, and
 * debited only by whoever succeeded in deleting it.
 */
#ifndef TRACK_BPF_H
#define TRACK_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/exponential.h"
#include "bpf/memleak.h"

const volatile struct memleak_config config;

/* Off until every probe is in place: a call seen by half of them would be a wrong block. */
volatile bool tracking;

/* Sizes are set by the loader before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct memleak_block_key);
	__type(value, struct memleak_block);
} blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct memleak_site);
} sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, sizeof(struct memleak_stack) + 8);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MEMLEAK_COUNTER_CNT);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* Frames that a walk may begin with and that are dropped: the program's own and the way to it. */
#define TRACING_FRAMES 8

/* A captured stack: words[0] or words[1] begins a struct memleak_stack of the wanted depth. */
struct stack_buffer {
	__u64 hash;
	__u32 first; /* index of the word where the struct begins: 0 or 1 */
	__u32 reserved;
	__u64 words[2 + MEMLEAK_MAX_STACK_DEPTH + TRACING_FRAMES];
};

/* Atomic although per CPU: since 6.0 a program can be preempted by another one. */
static __always_inline void count(__u32 which, __s64 by)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		__sync_fetch_and_add(counter, by);
}

/* The low 40 bits of the packed word are the size, the high 24 the count. */
static __always_inline void site__add(struct memleak_site *site, __u64 size, __s64 sign)
{
	__u64 packed = 1ULL << MEMLEAK_TOTAL_SIZE_BITS;

	if (size >= config.wide_size)
		__sync_fetch_and_add(&site->wide_bytes, sign * size);
	else
		packed += size;
	__sync_fetch_and_add(&site->total.bits, sign * packed);
}

volatile struct memleak_stack_watch stack_watch;

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
 * The site of a captured stack. A stack that finds its table full is counted as lost, and its
 * blocks go to the site "stack not known" of the image, so that totals stay right.
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

/*
 * Takes a block out of the table: copied before it is deleted, since a deleted element may be
 * reused at once; debited only if the delete succeeded, since someone else may have been first.
 */
static __always_inline bool block__take(const struct memleak_block_key *key,
					struct memleak_block *ret)
{
	struct memleak_block *held = bpf_map_lookup_elem(&blocks, key);
	struct memleak_site *site;

	if (!held)
		return false;
	*ret = *held;
	if (bpf_map_delete_elem(&blocks, key))
		return false;
	site = bpf_map_lookup_elem(&sites, &ret->site);
	if (site)
		site__add(site, ret->size, -1);
	return true;
}

/*
 * A block still held at the address was freed unseen: replacing it is a free and an allocation.
 * Errors of map functions are ints: older kernels leave the upper half of the register undefined.
 */
static __always_inline int block__insert(const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	struct memleak_block old;
	int err = bpf_map_update_elem(&blocks, key, block, BPF_NOEXIST);

	if (err == -EEXIST) {
		if (block__take(key, &old))
			count(MEMLEAK_STAT_REPLACED, 1);
		err = bpf_map_update_elem(&blocks, key, block, BPF_NOEXIST);
	}
	return err;
}

static __always_inline bool block__store(const struct memleak_block_key *key,
					 const struct memleak_block *block,
					 struct memleak_site *site)
{
	int err = block__insert(key, block);

	if (err) {
		count(err == -E2BIG ? MEMLEAK_LOST_ALLOCS_FULL : MEMLEAK_LOST_NO_MEMORY, 1);
		return false;
	}
	site__add(site, block->size, 1);
	return true;
}

/* Whether the filters want an allocation of this size. */
static __always_inline bool wanted(__u64 size)
{
	return tracking && size >= config.min_size && size <= config.max_size;
}

static __always_inline __u64 random_bits(void)
{
	return (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
}

/* Whether the filters and the sampling want it. left: with --sample-bytes, the countdown. */
static __always_inline bool chosen(__u64 size, __u64 *left)
{
	if (!wanted(size))
		return false;
	if (config.sample_bytes) {
		if (!left)
			return false;
		if (!*left)
			*left = exponential_draw(random_bits(), config.sample_bytes);
		return countdown__ends(left, size);
	}
	return config.sample_rate == 1 || bpf_get_prandom_u32() % config.sample_rate == 0;
}

#endif
