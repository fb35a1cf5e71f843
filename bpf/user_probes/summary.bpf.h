/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --summary: counts what each process allocates and frees on its heap. Without the option, none of
 * this code remains in the loaded BPF programs.
 */
#ifndef BPF_USER_PROBES_SUMMARY_BPF_H
#define BPF_USER_PROBES_SUMMARY_BPF_H

#include "bpf/summary.h"
#include "bpf/track.bpf.h"

/* Summaries; the key is the image. The loader sets max_entries before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_summary);
} summaries SEC(".maps");

/* Initial value of an entry, which is too large for the BPF stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_summary);
} summary_template SEC(".maps");

static __always_inline struct memleak_summary *summary__of(__u32 image)
{
	struct memleak_summary *summary = bpf_map_lookup_elem(&summaries, &image), *template;
	__u32 zero = 0;

	if (summary)
		return summary;
	template = bpf_map_lookup_elem(&summary_template, &zero);
	if (!template)
		return NULL;
	bpf_map_update_elem(&summaries, &image, template, BPF_NOEXIST);
	return bpf_map_lookup_elem(&summaries, &image);
}

static __always_inline void summary__call(__u32 image, __u32 shape)
{
	struct memleak_summary *summary;
	__u64 at = shape;

	if (!config.summary)
		return;
	summary = summary__of(image);
	/* Hide the range of `at`: otherwise the compiler drops the test that the verifier needs. */
	barrier_var(at);
	if (summary && at < MEMLEAK_SHAPE_CNT)
		__sync_fetch_and_add(&summary->calls[at], 1);
}

static __always_inline void summary__freed(__u32 image, __u64 size)
{
	struct memleak_summary *summary = config.summary ? summary__of(image) : NULL;

	if (summary)
		__sync_fetch_and_add(&summary->outstanding, -size);
}

/*
 * Adds an allocation, and raises the peak if the current total is higher. If two threads reach a
 * new peak at the same time, the lower value may stay.
 */
static __always_inline void summary__allocated(__u32 image, __u64 size)
{
	struct memleak_summary *summary = config.summary ? summary__of(image) : NULL;
	__u64 outstanding;

	if (!summary)
		return;
	__sync_fetch_and_add(&summary->allocated, size);
	__sync_fetch_and_add(&summary->outstanding, size);
	outstanding = *(volatile __u64 *)&summary->outstanding;
	if (outstanding > summary->peak)
		summary->peak = outstanding;
	if (size > summary->largest)
		summary->largest = size;
}

#endif
