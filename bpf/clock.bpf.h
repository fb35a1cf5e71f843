/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An approximate clock: each CPU reads the time only once per kernel tick. The clock is accurate to
 * one tick (a few milliseconds), which suffices for ages shown in tenths of a second.
 */
#ifndef BPF_CLOCK_BPF_H
#define BPF_CLOCK_BPF_H

#include "bpf/compat.bpf.h"

struct cpu_clock {
	__u64 tick;
	__u64 time_ns; /* time when this tick was first seen */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_clock);
} cpu_clocks SEC(".maps");

/*
 * Returns the approximate time. The tick is written last: a program that interrupts this one may
 * see the new time with the old tick, but never the old time with the new tick.
 */
static __always_inline __u64 about_now(void)
{
	__u64 tick = bpf_jiffies64(), now;
	__u32 zero = 0;
	volatile struct cpu_clock *clock = bpf_map_lookup_elem(&cpu_clocks, &zero);

	if (clock && clock->tick == tick)
		return clock->time_ns;
	now = bpf_ktime_get_ns();
	if (clock) {
		clock->time_ns = now;
		clock->tick = tick;
	}
	return now;
}

#endif
