// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs for the kernel's allocation events, attached to classic tracepoints; for kernels without
 * BTF. Values are fields of the event's record, at offsets read from tracefs. If any BPF program is
 * running on the CPU, the kernel drops the event without counting it, so these programs are used
 * only if no other kind works.
 */
#define MEMLEAK_NO_BTF

#include "bpf/kernel_tp/percpu.bpf.h"
#include "bpf/kernel_tp/slab.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline __u64 field(void *ctx, __u8 offset, __u32 size)
{
	__u64 value = 0;

	if (offset != MEMLEAK_VALUE_NONE)
		bpf_probe_read_kernel(&value, size, ctx + offset);
	return value;
}

#define VALUE(ctx, name) field(ctx, kernel_config.at.name, sizeof(__u64))
#define VALUE32(ctx, name) ((__u32)field(ctx, kernel_config.at.name, sizeof(__u32)))
/* The call site of a free is needed only to walk the stack of the free. */
#define FREE_SITE(ctx, name) (config.trace_stacks ? VALUE(ctx, name) : 0)

static __always_inline int kmalloc_event(void *ctx, __u32 user)
{
	return on_slab_alloc(ctx, user, MEMLEAK_KERNEL_KMALLOC, VALUE(ctx, kmalloc_site),
			     VALUE(ctx, kmalloc_ptr), NULL, VALUE(ctx, kmalloc_size));
}

static __always_inline int cache_alloc_event(void *ctx, __u32 user)
{
	return on_slab_alloc(ctx, user, MEMLEAK_KERNEL_CACHE_ALLOC, VALUE(ctx, cache_alloc_site),
			     VALUE(ctx, cache_alloc_ptr), NULL, VALUE(ctx, cache_alloc_size));
}

SEC("tp/kmem/kmalloc")
int classic_kmalloc(void *ctx)
{
	return kmalloc_event(ctx, STACK_KMALLOC);
}

SEC("tp/kmem/kmalloc_node")
int classic_kmalloc_node(void *ctx)
{
	return kmalloc_event(ctx, STACK_KMALLOC_NODE);
}

SEC("tp/kmem/kmem_cache_alloc")
int classic_kmem_cache_alloc(void *ctx)
{
	return cache_alloc_event(ctx, STACK_CACHE_ALLOC);
}

SEC("tp/kmem/kmem_cache_alloc_node")
int classic_kmem_cache_alloc_node(void *ctx)
{
	return cache_alloc_event(ctx, STACK_CACHE_ALLOC_NODE);
}

SEC("tp/kmem/kfree")
int classic_kfree(void *ctx)
{
	return on_slab_free(ctx, FREE_KFREE, MEMLEAK_KERNEL_KFREE, FREE_SITE(ctx, kfree_site), 0,
			    VALUE(ctx, kfree_ptr));
}

SEC("tp/kmem/kmem_cache_free")
int classic_kmem_cache_free(void *ctx)
{
	return on_slab_free(ctx, FREE_CACHE_FREE, MEMLEAK_KERNEL_CACHE_FREE,
			    FREE_SITE(ctx, cache_free_site), 0, VALUE(ctx, cache_free_ptr));
}

SEC("tp/kmem/mm_page_alloc")
int classic_mm_page_alloc(void *ctx)
{
	return on_page_alloc(ctx, 0, VALUE(ctx, page_alloc_frame), VALUE32(ctx, page_alloc_order),
			     VALUE32(ctx, page_alloc_mobility));
}

SEC("tp/kmem/mm_page_free")
int classic_mm_page_free(void *ctx)
{
	return on_page_free(ctx, 0, VALUE(ctx, page_free_frame), VALUE32(ctx, page_free_order));
}

SEC("tp/percpu/percpu_alloc_percpu")
int classic_percpu_alloc_percpu(void *ctx)
{
	return on_percpu_alloc(ctx, 0, VALUE(ctx, percpu_alloc_ptr), VALUE(ctx, percpu_alloc_size));
}

SEC("tp/percpu/percpu_free_percpu")
int classic_percpu_free_percpu(void *ctx)
{
	return on_percpu_free(ctx, 0, VALUE(ctx, percpu_free_ptr));
}
