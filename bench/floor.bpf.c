// SPDX-License-Identifier: GPL-2.0-or-later
/* Empty BPF programs. Their cost is the minimum cost of any tracer with the same probes. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int nothing(void *ctx)
{
	return 0;
}

/* For a uprobe session: runs at both the entry and the return of the function. */
SEC("uprobe")
int session(void *ctx)
{
	return 0;
}

/*
 * For a uprobe session: runs only at the entry of the function. Returns 1, so that the kernel does
 * not run the program at the return.
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
