/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of programs on one event. Newer kernels do not run a program that is under way on the CPU
 * already: an event in an interrupt, or of a task that preempts, would be lost. So each event has
 * two programs, one of which handles what the other has not been run for. The two find their
 * arguments at one address, which is no other event's before both have seen it: nested events lie
 * deeper in the stack or in another one. If a whole event comes between the two, the outer one is
 * handled twice, which replaces a block by itself, or forgets it again before it is free.
 */
#ifndef HANDLED_BPF_H
#define HANDLED_BPF_H

#include "bpf/track.bpf.h"

/* The tracepoints come first. */
enum handled_event {
	HANDLED_TRACEPOINT_CNT = 10,
	HANDLED_BULK_FREE = HANDLED_TRACEPOINT_CNT,
	HANDLED_RCU_FREE,
	HANDLED_BULK_ALLOC,
	HANDLED_CNT,
};

/* Where the arguments of the last event are that each program of the pair has handled. */
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

static __always_inline volatile struct handled *handled(__u32 event)
{
	__u32 zero = 0;
	struct cpu_events *cpu = bpf_map_lookup_elem(&cpu_events, &zero);

	return cpu ? &cpu->events[event] : NULL;
}

/* Of a pair whose first program always runs first. */
static __always_inline bool first__enter(volatile struct handled *handled, __u64 *ctx)
{
	if (handled)
		handled->by[0] = (__u64)ctx;
	return handled;
}

static __always_inline bool second__has_to(volatile struct handled *handled, __u64 *ctx)
{
	if (!handled)
		return false;
	if (handled->by[0] == (__u64)ctx) {
		handled->by[0] = 0;
		return false;
	}
	count(MEMLEAK_STAT_RESCUED, 1);
	return true;
}

/*
 * Of a pair whose order nobody knows. What a program has handled itself never keeps it from
 * handling more: events at one address may follow each other while the other is under way.
 */
static __always_inline bool either__has_to(volatile struct handled *handled, __u32 program,
					   __u64 *ctx)
{
	if (!handled)
		return false;
	if (handled->by[!program] == (__u64)ctx) {
		handled->by[!program] = 0;
		return false;
	}
	handled->by[program] = (__u64)ctx;
	return true;
}

#endif
