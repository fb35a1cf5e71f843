/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percpu memory. A block's size is that of one CPU's copy, as it was asked for. */
#ifndef PERCPU_BPF_H
#define PERCPU_BPF_H

#include "bpf/kernel_tp/recall.bpf.h"

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
	if (stack__recall(ctx, buf, user, requester.level, 0, &note))
		site = site__recall(buf, MEMLEAK_KIND_PERCPU, &requester, &id);
	if (!site) {
		walked = stack__walk(ctx, buf);
		stack__trim(buf, walked, 0, requester.level != LEVEL_TASK);
		stack__remember(buf, user, requester.level, 0);
		site = site__of(buf, MEMLEAK_KIND_PERCPU, &requester, &id);
	}
	if (site)
		record_block(id, &key, size, requester.tid);
	emit_event(MEMLEAK_EVENT_ALLOC, MEMLEAK_KERNEL_PERCPU_ALLOC, offset, size);
	return 0;
}

static __always_inline int on_percpu_free(__u64 offset)
{
	struct memleak_block_key key = {.addr = offset, .domain = MEMLEAK_DOMAIN_PERCPU};

	if (!offset)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	forget_block(&key, MEMLEAK_KERNEL_PERCPU_FREE);
	return 0;
}

#endif
