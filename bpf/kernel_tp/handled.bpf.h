/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of BPF programs for one event. Newer kernels do not run a program that is already running
 * on the CPU, so an event in an interrupt, or of a task that preempts another one, would be lost.
 * Therefore each event has two programs, and each program handles the events that the other has
 * missed.
 *
 * An event is identified by the address of its arguments. The program that handles the event
 * records this address for its CPU, and the other program skips the event. No other event can have
 * this address until both programs have run: the arguments of nested events are deeper in the
 * stack, or on another stack.
 *
 * The record is missing if a nested event has overwritten it, or if the task has moved to another
 * CPU between the two programs. Then both programs handle the event. For blocks, this does no harm:
 * storing a block again only overwrites it, and both programs of a free run before the kernel can
 * reuse the block's address. But a line of -t must not appear twice: a second check (struct
 * sent_event) prevents this.
 */
#ifndef BPF_KERNEL_TP_HANDLED_BPF_H
#define BPF_KERNEL_TP_HANDLED_BPF_H

#include "bpf/track.bpf.h"

enum handled_event {
	HANDLED_KMALLOC,
	HANDLED_KMALLOC_NODE,
	HANDLED_KFREE,
	HANDLED_KMEM_CACHE_ALLOC,
	HANDLED_KMEM_CACHE_ALLOC_NODE,
	HANDLED_KMEM_CACHE_FREE,
	HANDLED_MM_PAGE_ALLOC,
	HANDLED_MM_PAGE_FREE,
	HANDLED_PERCPU_ALLOC_PERCPU,
	HANDLED_PERCPU_FREE_PERCPU,
	HANDLED_BULK_FREE,
	HANDLED_RCU_FREE,
	HANDLED_BULK_ALLOC,
	HANDLED_BULK_PAGES,
	HANDLED_BULK_PAGES_RETURN,
	HANDLED_CNT,
};

/* For each program of a pair: arguments' address of the event that it handled last on this CPU. */
struct handled {
	__u64 by[2];
};

struct cpu_events {
	struct handled events[HANDLED_CNT];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_events);
} cpu_events SEC(".maps");

#define SENT_EVENT_BITS 10

/* An event that one program of a pair has handled: a line of -t may have been sent for it. */
struct sent_event {
	__u64 ctx;
	__u64 arguments[2];
	__u64 program;
};

/*
 * Sent events, indexed by a hash of their arguments' address. Shared by all CPUs. Without -t the
 * loader sets the size to one entry.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << SENT_EVENT_BITS);
	__type(key, __u32);
	__type(value, struct sent_event);
} sent_events SEC(".maps");

static __always_inline struct sent_event *sent_event__slot(__u64 *ctx)
{
	__u32 index;

	if (!config.trace_events)
		return NULL;
	index = place__hash(ctx, SENT_EVENT_BITS);
	return bpf_map_lookup_elem(&sent_events, &index);
}

static __always_inline void sent_event__note(__u64 *ctx, __u32 program)
{
	struct sent_event *sent = sent_event__slot(ctx);

	if (!sent)
		return;
	bpf_probe_read_kernel(sent->arguments, sizeof(sent->arguments), ctx);
	sent->program = program;
	sent->ctx = (__u64)ctx;
}

/*
 * True if the other program of the pair has handled this event. If so, clears the entry of the
 * event, so that a later equal event at the same address is not skipped.
 */
static __always_inline bool sent_event__take(__u64 *ctx, __u32 program)
{
	struct sent_event *sent = sent_event__slot(ctx);
	__u64 arguments[2];

	if (!sent || sent->ctx != (__u64)ctx || sent->program != program)
		return false;
	bpf_probe_read_kernel(arguments, sizeof(arguments), ctx);
	if (sent->arguments[0] != arguments[0] || sent->arguments[1] != arguments[1])
		return false;
	sent->ctx = 0;
	return true;
}

static __always_inline volatile struct handled *handled(__u32 event)
{
	__u32 zero = 0;
	struct cpu_events *cpu = bpf_map_lookup_elem(&cpu_events, &zero);

	return cpu ? &cpu->events[event] : NULL;
}

/*
 * Records that the first program handles the event, so that the second one skips it. first__enter()
 * and second__has_to() are for pairs whose programs run in a fixed order.
 */
static __always_inline bool first__enter(volatile struct handled *handled, __u64 *ctx)
{
	if (!handled)
		return false;
	handled->by[0] = (__u64)ctx;
	sent_event__note(ctx, 0);
	return true;
}

static __always_inline bool second__has_to(volatile struct handled *handled, __u64 *ctx)
{
	bool sent = sent_event__take(ctx, 0);

	if (!handled)
		return false;
	if (handled->by[0] == (__u64)ctx) {
		handled->by[0] = 0;
		return false;
	}
	if (sent)
		return false;
	count(MEMLEAK_STAT_RESCUED, 1);
	return true;
}

/*
 * True if the program has to handle the event; for pairs whose programs run in any order. A program
 * skips the event only if the other program has handled it. An event that the program itself has
 * handled at this address is an earlier one, which the other program has missed.
 */
static __always_inline bool either__has_to(volatile struct handled *handled, __u32 program,
					   __u64 *ctx)
{
	bool sent = sent_event__take(ctx, !program);

	if (!handled)
		return false;
	if (handled->by[!program] == (__u64)ctx) {
		handled->by[!program] = 0;
		return false;
	}
	if (sent)
		return false;
	handled->by[program] = (__u64)ctx;
	sent_event__note(ctx, program);
	return true;
}

#endif
