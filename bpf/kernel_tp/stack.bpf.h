/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own stack at an event, by bpf_get_stack, and the site that it stands for. */
#ifndef BPF_KERNEL_TP_STACK_BPF_H
#define BPF_KERNEL_TP_STACK_BPF_H

#include "bpf/clock.bpf.h"
#include "bpf/kernel_tp/context.bpf.h"

/*
 * The programs that take stacks. The kernel runs no program twice at once on a CPU, or, before 6.2,
 * runs it again in an interrupt only: each has a buffer of its own for each level. If an event has
 * a second program, the number of that one is STACK_SECOND more.
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

/* The first word is the header of the struct; frames follow. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_USER_CNT *LEVEL_CNT);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffers SEC(".maps");

static __always_inline struct stack_buffer *stack__buffer(__u32 user, __u32 level)
{
	__u32 index = user * LEVEL_CNT + level;

	return bpf_map_lookup_elem(&stack_buffers, &index);
}

/*
 * The functions of the slab allocator stand this near to those of the page allocator. Farther out
 * they have begun to reclaim memory, which asks for pages of its own.
 */
#define SLAB_FRAMES 10

/* Without a branch, which the verifier would follow both ways for every frame. */
static __always_inline __u64 in_ranges(const volatile struct memleak_code_range *ranges, __u32 cnt,
				       __u64 addr)
{
	__u64 inside = 0;

	for (__u32 i = 0; i < cnt; i++) {
		__u64 start = ranges[i].start, len = ranges[i].end - start, at = addr - start;

		inside |= ~at & (at - len); /* the top bit says at < len */
	}
	return inside >> 63;
}

/*
 * Walks into buf; returns the number of frames. Every word behind them is of an earlier walk.
 * Frames that will not be kept are walked too: those of tracing itself, and those in which
 * functions of the slab allocator are looked for.
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
 * Cuts the walk down to what distinguishes callers: from call_site, the return address into the
 * allocator's caller (0: from the beginning), to the edge of the interrupt. Frames move to the
 * front. Beyond the edge stands whatever happened to be interrupted.
 */
static __always_inline void stack__trim(struct stack_buffer *buf, __u32 walked, __u64 call_site,
					bool interrupt)
{
	struct memleak_stack *header = (void *)&buf->words[0];
	__u32 first, kept = 0;
	__u64 hash = 0;

	/* Read from the buffer: the verifier follows a number that it does not know once. */
	buf->first = 0;
	for (__u32 i = 0; call_site && i < TRACING_FRAMES; i++)
		if (i < walked && buf->words[1 + i] == call_site)
			buf->first = i;
	/*
	 * A mask and no comparison, as compilers would keep a copy that verifiers do not see
	 * bounded.
	 */
	first = *(volatile __u32 *)&buf->first % TRACING_FRAMES;
	for (__u32 i = 0; i < MEMLEAK_MAX_STACK_DEPTH; i++) {
		__u64 frame;

		if (i >= config.stack_depth || i + first >= walked)
			break;
		frame = buf->words[1 + first + i];
		hash = hash_mix(hash, frame);
		buf->words[1 + i] = frame;
		kept = i + 1;
		if (interrupt &&
		    in_ranges(kernel_config.interrupt_edges, MEMLEAK_INTERRUPT_EDGES, frame))
			break;
	}
	header->frame_cnt = kept;
	header->end = kept >= config.stack_depth && kept + first < walked ? UNWIND_END_TRUNCATED
									  : UNWIND_END_COMPLETE;
	buf->first = 0;
	buf->hash = hash ? hash : 1;
	if (!walked)
		count(MEMLEAK_LOST_UNWIND, 1);
}

/*
 * Functions with loops of many turns are not static, here and elsewhere: the verifier checks each
 * once, and does not go on from each turn's end into whatever comes behind.
 */
__noinline int trim_stack(__u32 user, __u32 level, __u32 walked, __u64 call_site)
{
	struct stack_buffer *buf = stack__buffer(user, level);

	if (buf)
		stack__trim(buf, walked, call_site, level != LEVEL_TASK);
	return 0;
}

/* Notes who allocated at the site last. Written only if it is another: CPUs share the site. */
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

/* The site of an allocation that is traced and chosen. */
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

/* The same if the stack was recognised and not walked. NULL: the site is yet to be made. */
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

/* What a block is besides its place, size and age, in one word. */
#define BLOCK_WORD(domain, halved, tid) ((__u64)(domain) << 40 | (__u64)(halved) << 32 | (tid))

/*
 * Functions of their own, not static: the verifier checks them once, however many ways lead there.
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

/* -F */
static __always_inline void repair(const struct memleak_block_key *key)
{
	if (kernel_config.wa_missing_free && block__may_be_held(key))
		repair_block(key->addr, key->domain);
}

#endif
