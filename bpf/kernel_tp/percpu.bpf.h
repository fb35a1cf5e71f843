/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks percpu memory. A block's size is the requested size, which is the size of one CPU's copy.
 */
#ifndef BPF_KERNEL_TP_PERCPU_BPF_H
#define BPF_KERNEL_TP_PERCPU_BPF_H

#include "bpf/kernel_tp/event_stack.bpf.h"
#include "bpf/kernel_tp/stack_cache.bpf.h"

static __always_inline int on_percpu_alloc(void *ctx, __u32 second, __u64 offset, __u64 size)
{
	struct memleak_block_key key = {.addr = offset, .domain = MEMLEAK_DOMAIN_PERCPU};
	__u32 user = second + STACK_PERCPU_ALLOC, walked, note;
	struct memleak_site *site = NULL;
	struct requester requester;
	struct stack_buffer *buf;
	__u64 id;

	if (!offset)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	repair(&key);
	if (!is_traced(&requester) || !chosen(size, countdown(requester.level)))
		return 0;
	buf = stack__buffer(user, requester.level);
	if (!buf)
		return 0;
	if (stack__look_up(ctx, buf, user, requester.level, 0, &note))
		site = site__look_up(buf, MEMLEAK_KIND_PERCPU, &requester, &id);
	if (!site) {
		walked = stack__walk(ctx, buf);
		trim_stack(user, requester.level, walked, 0);
		stack__cache(buf, user, requester.level, 0);
		site = site__of(buf, MEMLEAK_KIND_PERCPU, &requester, &id);
	}
	if (site)
		record_block(id, &key, size, requester.tid);
	emit_event(MEMLEAK_EVENT_ALLOC, MEMLEAK_KERNEL_PERCPU_ALLOC, offset, size,
		   alloc_stack(site, buf));
	return 0;
}

static __always_inline int on_percpu_free(void *ctx, __u32 second, __u64 offset)
{
	struct memleak_block_key key = {.addr = offset, .domain = MEMLEAK_DOMAIN_PERCPU};
	__u64 size;

	if (!offset)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	if (forget_block(&key, &size))
		emit_event(MEMLEAK_EVENT_FREE, MEMLEAK_KERNEL_PERCPU_FREE, offset, size,
			   free_stack(ctx, second + FREE_PERCPU_FREE, 0, 0));
	return 0;
}

#endif
