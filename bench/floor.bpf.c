// SPDX-License-Identifier: GPL-2.0-or-later
/* Empty BPF programs. Their cost is the minimum for any tracer with the same probes. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int nothing(void *ctx)
{
	return 0;
}

/* Runs at both entry and return, attached as a uprobe session. */
SEC("uprobe")
int session(void *ctx)
{
	return 0;
}

/*
 * Runs at entry only, attached as a uprobe session. Returns 1, so that the kernel does not run the
 * program at return.
 */
SEC("uprobe")
int session_entry(void *ctx)
{
	return 1;
}

SEC("tp_btf/kmalloc")
int kmalloc(void *ctx)
{
	return 0;
}

SEC("tp_btf/kfree")
int kfree(void *ctx)
{
	return 0;
}
