/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user stack at the entry of an allocator function: the one place that walks it.
 *
 * The kernel's walk follows frame pointers. At a function's first instruction its frame does not
 * exist yet, so the walk would miss the immediate caller: that one is the return address. Newer
 * kernels add it themselves for some functions, which shows as the same address twice.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "bpf/user_probes/thread.bpf.h"

/* Words before the walked frames: the struct's header and the return address. */
#define WALK_AT 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_code);
} code SEC(".maps");

/* a < b, as the borrow of a - b: each branch would double what a verifier has to follow. */
static __always_inline __u64 below(__u64 a, __u64 b)
{
	return ((~a & b) | ((~a | b) & (a - b))) >> 63;
}

static __always_inline bool is_code(const struct memleak_code *ranges, __u64 addr)
{
	__u64 inside = 0;

	for (__u32 i = 0; i < MEMLEAK_CODE_RANGES; i++)
		inside |= below(addr - ranges->ranges[i].start,
				ranges->ranges[i].end - ranges->ranges[i].start);
	return inside;
}

/* Hashes the frames and ends the walk before the first that is no code. Returns their number. */
static __always_inline __u32 stack__check(struct stack_buffer *buf, __u32 walked)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, i;
	const struct memleak_code *ranges = bpf_map_lookup_elem(&code, &tgid);
	__u64 hash = hash_mix(0, buf->words[WALK_AT - 1]);

	for (i = 0; i < MEMLEAK_MAX_STACK_DEPTH; i++) {
		__u64 frame;

		if (i >= walked || i >= config.stack_depth)
			break;
		frame = buf->words[WALK_AT + i];
		if (ranges && !is_code(ranges, frame))
			break;
		/* The caller again: the kernel has found it as well. */
		if (i || frame != buf->words[WALK_AT - 1])
			hash = hash_mix(hash, frame);
	}
	buf->hash = hash ? hash : 1;
	return i;
}

/* Walks from the caller on; the caller's return address has been read already. */
static __always_inline void stack__capture(struct pt_regs *ctx, struct thread_state *thread)
{
	struct stack_buffer *buf = &thread->stack;
	struct memleak_stack *header;
	__u32 walked = 0, kept, depth = config.stack_depth;
	long len = 0;

	buf->words[WALK_AT - 1] = thread->call.return_address;
	if (depth > 1 && depth <= MEMLEAK_MAX_STACK_DEPTH) {
		/* skip one: the allocator function itself */
		len = bpf_get_stack(ctx, &buf->words[WALK_AT], (depth - 1) * sizeof(__u64),
				    BPF_F_USER_STACK | 1);
		walked = len > 0 ? len / sizeof(__u64) : 0;
	}
	kept = stack__check(buf, walked);
	if (!kept && depth > 1)
		count(MEMLEAK_LOST_UNWIND, 1);
	buf->first = kept && buf->words[WALK_AT] == thread->call.return_address;
	if (buf->first) {
		header = (void *)&buf->words[1];
		header->frame_cnt = kept;
	} else {
		header = (void *)&buf->words[0];
		header->frame_cnt = kept + 1;
	}
	header->truncated = kept + 1 >= depth;
}

#endif
