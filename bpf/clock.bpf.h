/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time to about a tick of the kernel, a few milliseconds: the clock is read once in each tick
 * on each CPU. Ages are shown in tenths of a second; where it matters which of two is older,
 * memleak clears this.
 */
#ifndef BPF_CLOCK_BPF_H
#define BPF_CLOCK_BPF_H

#include "bpf/compat.bpf.h"

struct cpu_clock {
	__u64 tick;
	__u64 time_ns; /* when that tick was first seen */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_clock);
} cpu_clocks SEC(".maps");

/*
 * The tick is written last: a program that comes in between finds the new time with the old tick.
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
