// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that do nothing: what any tracer at these places must cost. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int nothing(void *ctx)
{
	return 0;
}

/* Entry and return of a session. */
SEC("uprobe")
int session(void *ctx)
{
	return 0;
}

/* It leaves the return alone. */
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
