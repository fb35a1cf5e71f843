/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of programs on one event. Newer kernels do not run a program that is under way on the CPU
 * already: an event in an interrupt, or of a task that preempts, would be lost. So each event has
 * two programs, one of which handles what the other has not been run for. The two find their
 * arguments at one address, which is no other event's before both have seen it: nested events lie
 * deeper in the stack or in another one. If a whole event comes between the two, or the task is
 * preempted and goes on elsewhere, the event is handled twice: then a block replaces itself, or is
 * taken out again before it is free. Only the lines of -t must not come twice: for them there is a
 * second look.
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

/* Where the arguments of the last event lie that each program of the pair has handled. */
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

#define TOLD_BITS 10

/* An event of which a line may have been sent, and which program of the pair sent it. */
struct told {
	__u64 ctx;
	__u64 arguments[2];
	__u64 program;
};

/* Shared by all CPUs, by the address of the arguments. Without -t the loader leaves one entry. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << TOLD_BITS);
	__type(key, __u32);
	__type(value, struct told);
} told_events SEC(".maps");

static __always_inline struct told *told__slot(__u64 *ctx)
{
	__u32 index;

	if (!config.trace_events)
		return NULL;
	index = place__hash(ctx, TOLD_BITS);
	return bpf_map_lookup_elem(&told_events, &index);
}

static __always_inline void told__note(__u64 *ctx, __u32 program)
{
	struct told *told = told__slot(ctx);

	if (!told)
		return;
	bpf_probe_read_kernel(told->arguments, sizeof(told->arguments), ctx);
	told->program = program;
	told->ctx = (__u64)ctx;
}

/* The entry is dropped again: another event may have the same arguments at the same place. */
static __always_inline bool told__take(__u64 *ctx, __u32 program)
{
	struct told *told = told__slot(ctx);
	__u64 arguments[2];

	if (!told || told->ctx != (__u64)ctx || told->program != program)
		return false;
	bpf_probe_read_kernel(arguments, sizeof(arguments), ctx);
	if (told->arguments[0] != arguments[0] || told->arguments[1] != arguments[1])
		return false;
	told->ctx = 0;
	return true;
}

static __always_inline volatile struct handled *handled(__u32 event)
{
	__u32 zero = 0;
	struct cpu_events *cpu = bpf_map_lookup_elem(&cpu_events, &zero);

	return cpu ? &cpu->events[event] : NULL;
}

/* For a pair whose first program always runs first. */
static __always_inline bool first__enter(volatile struct handled *handled, __u64 *ctx)
{
	if (!handled)
		return false;
	handled->by[0] = (__u64)ctx;
	told__note(ctx, 0);
	return true;
}

static __always_inline bool second__has_to(volatile struct handled *handled, __u64 *ctx)
{
	bool told = told__take(ctx, 0);

	if (!handled)
		return false;
	if (handled->by[0] == (__u64)ctx) {
		handled->by[0] = 0;
		return false;
	}
	if (told)
		return false;
	count(MEMLEAK_STAT_RESCUED, 1);
	return true;
}

/*
 * For a pair whose order nobody knows. What a program has handled itself never keeps it from
 * handling more: events at one address may follow each other while the other program is under way.
 */
static __always_inline bool either__has_to(volatile struct handled *handled, __u32 program,
					   __u64 *ctx)
{
	bool told = told__take(ctx, !program);

	if (!handled)
		return false;
	if (handled->by[!program] == (__u64)ctx) {
		handled->by[!program] = 0;
		return false;
	}
	if (told)
		return false;
	handled->by[program] = (__u64)ctx;
	told__note(ctx, program);
	return true;
}

#endif
