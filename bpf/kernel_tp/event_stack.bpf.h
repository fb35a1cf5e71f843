/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles frees, and the stacks that -tt shows for frees. For an allocation, -tt shows the stack of
 * its site.
 */
#ifndef BPF_KERNEL_TP_EVENT_STACK_BPF_H
#define BPF_KERNEL_TP_EVENT_STACK_BPF_H

#include "bpf/kernel_tp/stack.bpf.h"

/*
 * Stores the stack of a free, and leaves its hash in the buffer, or 0 if the stack table is full.
 * Not static, so that the verifier checks this only once.
 */
__noinline int free_stack__store(__u32 user, __u32 level, __u32 walked, __u64 call_site)
{
	struct stack_buffer *buf;

	if (!config.trace_stacks)
		return 0;
	buf = stack__buffer(user, level);
	if (!buf)
		return 0;
	trim_stack(user, level, walked, call_site);
	count(MEMLEAK_STAT_WALKS, 1);
	if (stack__store(buf)) {
		count(MEMLEAK_LOST_STACKS_FULL, 1);
		buf->hash = 0;
	}
	return 0;
}

/*
 * Returns the key of the stack of a free; 0 if the stack is not needed or is lost. The stack begins
 * at call_site, the return address into the caller. If `skipped` is not 0, the stack begins after
 * that number of frames instead.
 */
static __always_inline __u64 free_stack(void *ctx, __u32 user, __u64 call_site, __u32 skipped)
{
	struct stack_buffer *buf;
	__u32 level, walked;

	if (!config.trace_stacks || !tracking || is_own(current_pids() >> 32))
		return 0;
	level = interrupt_level();
	buf = stack__buffer(user, level);
	if (!buf)
		return 0;
	walked = stack__walk(ctx, buf);
	if (skipped && walked > skipped)
		call_site = buf->words[1 + skipped];
	free_stack__store(user, level, walked, call_site);
	return buf->hash;
}

/*
 * Returns the key of an allocation's stack, for the event of the allocation. `site` is NULL if the
 * site table was full.
 */
static __always_inline __u64 alloc_stack(const struct memleak_site *site,
					 const struct stack_buffer *buf)
{
	if (!config.trace_stacks)
		return 0;
	return site ? site->stack : buf->hash;
}

/* Removes the block, if tracked. Returns true, and sets *size, if an event must be sent. */
static __always_inline bool forget_block(const struct memleak_block_key *key, __u64 *size)
{
	struct memleak_block block;
	bool held = block__take(key, &block);

	if (!config.trace_events)
		return false;
	*size = held ? block.size : MEMLEAK_SIZE_UNKNOWN;
	return held || !kernel_config.by_process;
}

#endif
