/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the ABI that the kernel objects alone need: their events and where those have their
 * values, and what is constant for their programs.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

#include <linux/types.h>

/* Kernel events come without the address of a function: memleak_event has one of these instead. */
enum memleak_kernel_event {
	MEMLEAK_KERNEL_KMALLOC,
	MEMLEAK_KERNEL_KFREE,
	MEMLEAK_KERNEL_CACHE_ALLOC,
	MEMLEAK_KERNEL_CACHE_FREE,
	MEMLEAK_KERNEL_PAGE_ALLOC,
	MEMLEAK_KERNEL_PAGE_FREE,
	MEMLEAK_KERNEL_PERCPU_ALLOC,
	MEMLEAK_KERNEL_PERCPU_FREE,
	MEMLEAK_KERNEL_BULK_ALLOC,
	MEMLEAK_KERNEL_BULK_FREE,
	MEMLEAK_KERNEL_RCU_FREE,
	MEMLEAK_KERNEL_BULK_PAGES,
	MEMLEAK_KERNEL_EVENT_CNT,
};

/*
 * Where an event has a value: the number of an argument of the tracepoint, or the offset of a field
 * in its record where there are only records. MEMLEAK_VALUE_NONE: the event has no such value.
 */
#define MEMLEAK_VALUE_NONE 0xff

struct memleak_value_places {
	__u8 kmalloc_site;
	__u8 kmalloc_ptr;
	__u8 kmalloc_cache;
	__u8 kmalloc_size;
	__u8 cache_alloc_site;
	__u8 cache_alloc_ptr;
	__u8 cache_alloc_cache;
	__u8 cache_alloc_size; /* NONE: the cache knows */
	__u8 kfree_site;
	__u8 kfree_ptr;
	__u8 cache_free_site;
	__u8 cache_free_ptr;
	__u8 page_alloc_frame;
	__u8 page_alloc_order;
	__u8 page_alloc_mobility;
	__u8 page_free_frame;
	__u8 page_free_order;
	__u8 percpu_alloc_ptr;
	__u8 percpu_alloc_size;
	__u8 percpu_free_ptr;
	__u8 bulk_pages_array; /* the last argument; NONE: the kernel allocates no pages in bulk */
	__u8 rcu_func;         /* kvfree_call_rcu's second argument is the offset of the head */
};

struct memleak_code_range {
	__u64 start;
	__u64 end; /* the first address behind */
};

#define MEMLEAK_SLAB_FUNCTIONS 12
#define MEMLEAK_INTERRUPT_EDGES 4

/* Constant for the programs of the kernel object. */
struct memleak_kernel_config {
	__u32 own_tgid;     /* memleak's */
	__u32 starter_tgid; /* of its child whose children are its helpers */
	__u8 by_process;    /* only what target processes allocate */
	__u8 by_thread;     /* blocks have the number of the thread, and not of its process */
	__u8 wa_missing_free;
	__u8 percpu;
	__u8 movable; /* pages of user memory and of the page cache, too */
	__u8 page_shift;
	__s64 preempt_count_at; /* distance from the CPU's run queue; 0: unknown */
	struct memleak_value_places at;
	/* Functions of the slab allocator that ask for pages; empty ranges are unused. */
	struct memleak_code_range slab_functions[MEMLEAK_SLAB_FUNCTIONS];
	/* Where interrupts enter: the stack of an interrupt ends there. */
	struct memleak_code_range interrupt_edges[MEMLEAK_INTERRUPT_EDGES];
};

/*
 * Pages are known by frame numbers: any numbering in which neighbours differ by one and blocks of
 * 2^n pages begin at multiples of 2^n. The programs find out where the direct mapping has frame 0.
 */
#define MEMLEAK_MAX_PAGE_ORDER 18

#endif
