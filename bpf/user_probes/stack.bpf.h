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

static __always_inline void stack__hash(struct stack_buffer *buf, __u32 frame_cnt)
{
	__u64 hash = 0;

	for (__u32 i = 0; i < MEMLEAK_MAX_STACK_DEPTH; i++) {
		if (i >= frame_cnt || i >= config.stack_depth)
			break;
		hash = hash_mix(hash, buf->words[buf->first ? WALK_AT + i : WALK_AT - 1 + i]);
	}
	buf->hash = hash ? hash : 1;
}

/* Walks from the caller on; the caller's return address has been read already. */
static __always_inline void stack__capture(struct pt_regs *ctx, struct thread_state *thread)
{
	struct stack_buffer *buf = &thread->stack;
	struct memleak_stack *header;
	__u32 walked = 0, depth = config.stack_depth;
	long len = 0;

	if (depth > 1 && depth <= MEMLEAK_MAX_STACK_DEPTH) {
		/* skip one: the allocator function itself */
		len = bpf_get_stack(ctx, &buf->words[WALK_AT], (depth - 1) * sizeof(__u64),
				    BPF_F_USER_STACK | 1);
		if (len <= 0)
			count(MEMLEAK_LOST_UNWIND, 1);
		else
			walked = len / sizeof(__u64);
	}
	buf->words[WALK_AT - 1] = thread->call.return_address;
	buf->first = walked && buf->words[WALK_AT] == thread->call.return_address;
	if (buf->first) {
		header = (void *)&buf->words[1];
		header->frame_cnt = walked;
	} else {
		header = (void *)&buf->words[0];
		header->frame_cnt = walked + 1;
	}
	header->truncated = walked + 1 >= depth;
	stack__hash(buf, header->frame_cnt);
}

#endif
