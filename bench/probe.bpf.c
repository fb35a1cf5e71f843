// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two probes: one does nothing, the other one lets the kernel walk the user stack. The difference
 * of their costs is the cost of the walk.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define FRAMES 127

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[FRAMES]);
} frames SEC(".maps");

/* Number of frames that the latest stack walk found; 0 if stack walks do not work. */
__u64 frame_cnt;

SEC("uprobe")
int nothing(struct pt_regs *ctx)
{
	return 0;
}

SEC("uprobe")
int get_stack(struct pt_regs *ctx)
{
	__u32 zero = 0;
	void *buf = bpf_map_lookup_elem(&frames, &zero);
	long len;

	if (!buf)
		return 0;
	len = bpf_get_stack(ctx, buf, FRAMES * sizeof(__u64), BPF_F_USER_STACK);
	frame_cnt = len > 0 ? len / sizeof(__u64) : 0;
	return 0;
}
