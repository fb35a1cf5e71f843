/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the kernel stack of an event with bpf_get_stack(), and finds the site of the event. */
#ifndef BPF_KERNEL_TP_STACK_BPF_H
#define BPF_KERNEL_TP_STACK_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/kernel_tp/context.bpf.h"

/*
 * Programs that walk stacks. On each CPU, a program has one buffer for each interrupt level. One is
 * enough: the kernel does not run a program again while it is running on the CPU. (Kernels before
 * 6.2 do that in an interrupt, but an interrupt has its own level.) The second program of a pair
 * has the number of the first plus STACK_SECOND.
 */
enum stack_user {
	STACK_KMALLOC,
	STACK_KMALLOC_NODE,
	STACK_CACHE_ALLOC,
	STACK_CACHE_ALLOC_NODE,
	STACK_PAGE_ALLOC,
	STACK_PERCPU_ALLOC,
	STACK_BULK_ALLOC,
	STACK_BULK_PAGES,
	STACK_SECOND,
	STACK_USER_CNT = 2 * STACK_SECOND,
};

/*
 * Programs that handle frees. The second program of a pair has the number of the first plus
 * STACK_SECOND, as in enum stack_user.
 */
enum free_user {
	FREE_KFREE = STACK_USER_CNT,
	FREE_CACHE_FREE,
	FREE_PAGE_FREE,
	FREE_PERCPU_FREE,
	FREE_BULK_FREE,
	FREE_RCU_FREE,
};

_Static_assert((int)FREE_RCU_FREE < STACK_USER_CNT + (int)STACK_SECOND,
	       "each program has a number of its own");

/* Stacks of allocations. The first word is the header of struct memleak_stack; frames follow. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_USER_CNT *LEVEL_CNT);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffers SEC(".maps");

/* Buffers for the stacks of frees. Without -tt the loader sets the size to one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_USER_CNT *LEVEL_CNT);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} free_buffers SEC(".maps");

/*
 * Returns the CPU's buffer for a stack; `user` is an enum stack_user or free_user. Frees have
 * stacks only with -tt; without it, the verifier skips the second lookup.
 */
static __always_inline struct stack_buffer *stack__buffer(__u32 user, __u32 level)
{
	__u32 index = user % STACK_USER_CNT * LEVEL_CNT + level;

	if (user < STACK_USER_CNT || !config.trace_stacks)
		return bpf_map_lookup_elem(&stack_buffers, &index);
	return bpf_map_lookup_elem(&free_buffers, &index);
}

/*
 * Number of innermost frames that are searched for functions of the slab allocator. If a slab
 * function is farther out, it has started to reclaim memory, and the page is allocated for another
 * purpose.
 */
#define SLAB_FRAMES 10

/*
 * Returns 1 if addr is in one of the ranges, else 0. Branch-free: the verifier would follow both
 * sides of each branch for every frame.
 */
static __always_inline __u64 in_ranges(const volatile struct memleak_code_range *ranges, __u32 cnt,
				       __u64 addr)
{
	__u64 inside = 0;

	for (__u32 i = 0; i < cnt; i++) {
		__u64 start = ranges[i].start, len = ranges[i].end - start, at = addr - start;

		inside |= ~at & (at - len); /* the top bit is set if at < len */
	}
	return inside >> 63;
}

/*
 * Walks the stack into buf. Returns the number of frames; the words after them are from an earlier
 * walk. The walk includes frames that will not be stored: frames of tracing, and frames that are
 * only searched for functions of the slab allocator.
 */
static __always_inline __u32 stack__walk(void *ctx, struct stack_buffer *buf)
{
	__u32 depth = config.stack_depth + TRACING_FRAMES;
	long len;

	if (depth < SLAB_FRAMES)
		depth = SLAB_FRAMES;
	if (depth > MEMLEAK_MAX_STACK_DEPTH + TRACING_FRAMES)
		return 0;
	len = bpf_get_stack(ctx, &buf->words[1], depth * sizeof(__u64), 0);
	return len > 0 ? len / sizeof(__u64) : 0;
}

/*
 * Maximum number of frames that one call of trim_step() handles. Functions with loops are not
 * static, here and in other files, so that the verifier checks each of them once. A long loop is
 * divided into calls of such a function, so that its body is checked for one call and not for all.
 */
#define TRIM_STEP 16

_Static_assert(!(MEMLEAK_MAX_STACK_DEPTH & (MEMLEAK_MAX_STACK_DEPTH - 1)), "used as a mask");

/*
 * Moves up to TRIM_STEP frames to the front, and adds them to the hash of the stack. `first` frames
 * are dropped; the frames after them are numbered from 0. Handles frames `at` to `end` - 1. Returns
 * 0 if it has reached the entry code of an interrupt, which is the last frame of the stack; else 1.
 */
__noinline int trim_step(__u32 user, __u32 level, __u32 first, __u32 at, __u32 end)
{
	struct stack_buffer *buf = stack__buffer(user, level);
	struct memleak_stack *header;

	if (!buf)
		return 0;
	header = (void *)&buf->words[0];
	/*
	 * Indices are bounded by masks, not by comparisons: a compiler may use a copy of the index
	 * whose bounds the verifier does not know.
	 */
	first %= TRACING_FRAMES;
	at &= MEMLEAK_MAX_STACK_DEPTH - TRIM_STEP;
	barrier_var(first);
	barrier_var(at);
	for (__u32 i = 0; i < TRIM_STEP && at + i < end; i++) {
		__u64 frame = buf->words[1 + first + at + i];

		buf->hash = hash_mix(buf->hash, frame);
		buf->words[1 + at + i] = frame;
		header->frame_cnt = at + i + 1;
		if (level != LEVEL_TASK &&
		    in_ranges(kernel_config.interrupt_edges, MEMLEAK_INTERRUPT_EDGES, frame))
			return 0;
	}
	return 1;
}

/* Returns the index of the frame that equals call_site; 0 if call_site is 0 or is not found. */
static __always_inline __u32 stack__first_frame(struct stack_buffer *buf, __u32 walked,
						__u64 call_site)
{
	/*
	 * Stored in the buffer, the index is an unknown number to the verifier, which then checks
	 * the code after this loop only once.
	 */
	buf->first = 0;
	for (__u32 i = 0; call_site && i < TRACING_FRAMES; i++)
		if (i < walked && buf->words[1 + i] == call_site)
			buf->first = i;
	return *(volatile __u32 *)&buf->first;
}

/*
 * Reduces the walk to the frames that distinguish callers, and moves these frames to the front. The
 * first frame is call_site, the return address into the allocator's caller, or the innermost frame
 * if call_site is 0. The last frame is the entry of an interrupt, if there is one: frames beyond it
 * belong to the interrupted code.
 */
__noinline int trim_stack(__u32 user, __u32 level, __u32 walked, __u64 call_site)
{
	struct stack_buffer *buf = stack__buffer(user, level);
	struct memleak_stack *header;
	__u32 first, end;

	if (!buf)
		return 0;
	header = (void *)&buf->words[0];
	first = stack__first_frame(buf, walked, call_site);
	end = walked - first < config.stack_depth ? walked - first : config.stack_depth;
	header->frame_cnt = 0;
	buf->hash = 0;
	for (__u32 at = 0; at < MEMLEAK_MAX_STACK_DEPTH && at < end; at += TRIM_STEP)
		if (!trim_step(user, level, first, at, end))
			break;
	header->end = header->frame_cnt >= config.stack_depth && header->frame_cnt + first < walked
			      ? UNWIND_END_TRUNCATED
			      : UNWIND_END_COMPLETE;
	buf->first = 0;
	if (!buf->hash)
		buf->hash = 1;
	if (!walked)
		count(MEMLEAK_LOST_UNWIND, 1);
	return 0;
}

/*
 * Records the process that allocated at the site most recently; allocations in interrupts do not
 * count. Writes only what has changed, because CPUs share the site.
 */
static __always_inline void origin__note(struct memleak_origin *origin,
					 const struct requester *requester)
{
	struct comm_words comm = current_comm(), last;

	if (requester->level != LEVEL_TASK)
		return;
	__builtin_memcpy(&last, origin->last_comm, sizeof(last));
	if (origin->last_pid != requester->tgid) {
		if (last.words[0] && !origin->several_pids)
			origin->several_pids = 1;
		origin->last_pid = requester->tgid;
	}
	if (last.words[0] != comm.words[0] || last.words[1] != comm.words[1])
		__builtin_memcpy(origin->last_comm, &comm, sizeof(comm));
}

/* Returns the site of a traced and sampled allocation, creating it if needed. */
static __always_inline struct memleak_site *site__of(struct stack_buffer *buf, __u32 kind,
						     const struct requester *requester, __u64 *id)
{
	struct memleak_site *site;

	if (requester->level != LEVEL_TASK)
		kind |= MEMLEAK_IN_INTERRUPT;
	site = site__get(buf, requester->image, kind, id);
	if (site)
		origin__note(&site->origin, requester);
	return site;
}

/*
 * Returns the site of an allocation whose stack was found in the stack cache; NULL if the site does
 * not exist yet.
 */
static __always_inline struct memleak_site *site__look_up(const struct stack_buffer *buf,
							  __u32 kind,
							  const struct requester *requester,
							  __u64 *id)
{
	struct memleak_site *site;

	*id = site__id(buf->hash, requester->image, kind);
	site = bpf_map_lookup_elem(&sites, id);
	if (site) {
		count(MEMLEAK_STAT_CACHED, 1);
		origin__note(&site->origin, requester);
	}
	return site;
}

/* Packs the domain, halvings and tid of a block into one word. */
#define BLOCK_WORD(domain, halved, tid) ((__u64)(domain) << 40 | (__u64)(halved) << 32 | (tid))

/*
 * repair_block() and store_block() are not static, so that the verifier checks them once and not
 * for every caller.
 */
__noinline int repair_block(__u64 addr, __u32 domain)
{
	const struct memleak_block_key key = {.addr = addr, .domain = domain};

	block__repair(&key);
	return 0;
}

__noinline int store_block(__u64 addr, __u64 size, __u64 birth_ns, __u64 site, __u64 word)
{
	const struct memleak_block_key key = {.addr = addr, .domain = word >> 40};
	const struct memleak_block block = {
		.size = size,
		.birth_ns = birth_ns,
		.site = site,
		.tid = word,
		.halved = word >> 32 & 0xff,
	};

	block__store(&key, &block);
	return 0;
}

static __always_inline void record_block(__u64 site, const struct memleak_block_key *key,
					 __u64 size, __u32 tid)
{
	if (block__may_be_held(key))
		repair_block(key->addr, key->domain);
	store_block(key->addr, size, config.combined_only ? 0 : about_now(), site,
		    BLOCK_WORD(key->domain, 0, tid));
}

/* With -F, removes a stale block at the key's address, whose free was missed. */
static __always_inline void repair(const struct memleak_block_key *key)
{
	if (kernel_config.wa_missing_free && block__may_be_held(key))
		repair_block(key->addr, key->domain);
}

#endif
