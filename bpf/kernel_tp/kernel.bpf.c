// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The BPF programs for the tracepoints of the kernel's allocators. The loader finds out by BTF
 * where the arguments are. Each program exists as a tp_btf program and, for kernels that reject
 * those, as a raw tracepoint program.
 */
#define MEMLEAK_STACK_CACHE

#include "bpf/kernel_tp/handled.bpf.h"
#include "bpf/kernel_tp/percpu.bpf.h"
#include "bpf/kernel_tp/slab.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Loads argument n. The asm prevents the compiler from merging several of these loads into one load
 * from a computed address.
 */
#define ARGUMENT(ctx, n)                                                                           \
	({                                                                                         \
		__u64 value_;                                                                      \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value_) : "r"(ctx), "i"((n)*8));      \
		value_;                                                                            \
	})

/*
 * Returns argument n of an event; n is constant when the programs are loaded. The verifier requires
 * constant offsets, and sees that only one of the loads below is reachable.
 */
static __always_inline __u64 argument(const __u64 *ctx, __u8 n)
{
	switch (n) {
	case 0:
		return ARGUMENT(ctx, 0);
	case 1:
		return ARGUMENT(ctx, 1);
	case 2:
		return ARGUMENT(ctx, 2);
	case 3:
		return ARGUMENT(ctx, 3);
	case 4:
		return ARGUMENT(ctx, 4);
	case 5:
		return ARGUMENT(ctx, 5);
	case 6:
		return ARGUMENT(ctx, 6);
	case 7:
		return ARGUMENT(ctx, 7);
	}
	return 0;
}

#define VALUE(ctx, name) argument(ctx, kernel_config.at.name)
/* The call site of a free is needed only to walk the stack of the free. */
#define FREE_SITE(ctx, name) (config.trace_stacks ? VALUE(ctx, name) : 0)

/*
 * Returns the frame number of a page from the address of its struct page, whose size is a power of
 * two on 64-bit kernels. The address is read from memory, because the verifier forbids arithmetic
 * on the pointer.
 */
static __always_inline __u64 frame_of(const __u64 *ctx, __u8 n)
{
	__u64 page = 0;

	bpf_probe_read_kernel(&page, sizeof(page), ctx + n);
	return page / bpf_core_type_size(struct page);
}

static __always_inline int kmalloc_event(__u64 *ctx, __u32 user)
{
	return on_slab_alloc(ctx, user, MEMLEAK_KERNEL_KMALLOC, VALUE(ctx, kmalloc_site),
			     VALUE(ctx, kmalloc_ptr), (void *)VALUE(ctx, kmalloc_cache),
			     VALUE(ctx, kmalloc_size));
}

static __always_inline int cache_alloc_event(__u64 *ctx, __u32 user)
{
	struct kmem_cache *cache = (void *)VALUE(ctx, cache_alloc_cache);
	__u64 size = VALUE(ctx, cache_alloc_size);

	if (kernel_config.at.cache_alloc_size == MEMLEAK_VALUE_NONE)
		size = BPF_CORE_READ(cache, size);
	return on_slab_alloc(ctx, user, MEMLEAK_KERNEL_CACHE_ALLOC, VALUE(ctx, cache_alloc_site),
			     VALUE(ctx, cache_alloc_ptr), cache, size);
}

static __always_inline int on_kmalloc(__u64 *ctx, __u32 second)
{
	return kmalloc_event(ctx, second + STACK_KMALLOC);
}

static __always_inline int on_kmalloc_node(__u64 *ctx, __u32 second)
{
	return kmalloc_event(ctx, second + STACK_KMALLOC_NODE);
}

static __always_inline int on_kmem_cache_alloc(__u64 *ctx, __u32 second)
{
	return cache_alloc_event(ctx, second + STACK_CACHE_ALLOC);
}

static __always_inline int on_kmem_cache_alloc_node(__u64 *ctx, __u32 second)
{
	return cache_alloc_event(ctx, second + STACK_CACHE_ALLOC_NODE);
}

static __always_inline int on_kfree(__u64 *ctx, __u32 second)
{
	return on_slab_free(ctx, second + FREE_KFREE, MEMLEAK_KERNEL_KFREE,
			    FREE_SITE(ctx, kfree_site), 0, VALUE(ctx, kfree_ptr));
}

static __always_inline int on_kmem_cache_free(__u64 *ctx, __u32 second)
{
	return on_slab_free(ctx, second + FREE_CACHE_FREE, MEMLEAK_KERNEL_CACHE_FREE,
			    FREE_SITE(ctx, cache_free_site), 0, VALUE(ctx, cache_free_ptr));
}

static __always_inline int on_mm_page_alloc(__u64 *ctx, __u32 second)
{
	return on_page_alloc(ctx, second, frame_of(ctx, kernel_config.at.page_alloc_frame),
			     VALUE(ctx, page_alloc_order), VALUE(ctx, page_alloc_mobility));
}

static __always_inline int on_mm_page_free(__u64 *ctx, __u32 second)
{
	return on_page_free(ctx, second, frame_of(ctx, kernel_config.at.page_free_frame),
			    VALUE(ctx, page_free_order));
}

static __always_inline int on_percpu_alloc_percpu(__u64 *ctx, __u32 second)
{
	return on_percpu_alloc(ctx, second, VALUE(ctx, percpu_alloc_ptr),
			       VALUE(ctx, percpu_alloc_size));
}

static __always_inline int on_percpu_free_percpu(__u64 *ctx, __u32 second)
{
	return on_percpu_free(ctx, second, VALUE(ctx, percpu_free_ptr));
}

/* Each event has a second program; it is attached after the first. */
#define FIRST_PROGRAM(section, prefix, event, id)                                                  \
	SEC(section "/" #event) int prefix##_##event(__u64 *ctx)                                   \
	{                                                                                          \
		if (first__enter(handled(id), ctx))                                                \
			on_##event(ctx, 0);                                                        \
		return 0;                                                                          \
	}

#define SECOND_PROGRAM(section, prefix, event, id)                                                 \
	SEC(section "/" #event) int prefix##2_##event(__u64 *ctx)                                  \
	{                                                                                          \
		if (second__has_to(handled(id), ctx))                                              \
			on_##event(ctx, STACK_SECOND);                                             \
		return 0;                                                                          \
	}

#define EVENT_PROGRAMS(event, id)                                                                  \
	FIRST_PROGRAM("tp_btf", btf, event, id)                                                    \
	SECOND_PROGRAM("tp_btf", btf, event, id)                                                   \
	FIRST_PROGRAM("raw_tp", raw, event, id)                                                    \
	SECOND_PROGRAM("raw_tp", raw, event, id)

EVENT_PROGRAMS(kmalloc, HANDLED_KMALLOC)
EVENT_PROGRAMS(kmalloc_node, HANDLED_KMALLOC_NODE)
EVENT_PROGRAMS(kfree, HANDLED_KFREE)
EVENT_PROGRAMS(kmem_cache_alloc, HANDLED_KMEM_CACHE_ALLOC)
EVENT_PROGRAMS(kmem_cache_alloc_node, HANDLED_KMEM_CACHE_ALLOC_NODE)
EVENT_PROGRAMS(kmem_cache_free, HANDLED_KMEM_CACHE_FREE)
EVENT_PROGRAMS(mm_page_alloc, HANDLED_MM_PAGE_ALLOC)
EVENT_PROGRAMS(mm_page_free, HANDLED_MM_PAGE_FREE)
EVENT_PROGRAMS(percpu_alloc_percpu, HANDLED_PERCPU_ALLOC_PERCPU)
EVENT_PROGRAMS(percpu_free_percpu, HANDLED_PERCPU_FREE_PERCPU)
