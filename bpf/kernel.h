/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the ABI that only the BPF objects for kernel memory use: their events, where the
 * values of each event are found, and the constants that the loader passes to the BPF programs.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

#include <linux/types.h>

/* Kernel events, used in memleak_event instead of a function's address. */
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
 * Where the values of each event are found. Unless noted, a member is the index of a tracepoint
 * argument, or MEMLEAK_VALUE_NONE if the event has no such value.
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
	__u8 cache_alloc_size; /* MEMLEAK_VALUE_NONE if the size must be read from the cache */
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
	__u8 bulk_pages_array; /* index of the argument `array` of alloc_pages_bulk() */
	/* 1 if kvfree_call_rcu() gets the rcu_head's offset instead of the object's address */
	__u8 rcu_func;
};

struct memleak_code_range {
	__u64 start;
	__u64 end; /* first address after the range */
};

#define MEMLEAK_SLAB_FUNCTIONS 12
#define MEMLEAK_INTERRUPT_EDGES 4

/* Constants of the BPF programs for kernel memory. */
struct memleak_kernel_config {
	__u32 own_tgid;     /* memleak's tgid */
	__u32 starter_tgid; /* tgid of the child that starts memleak's helpers */
	__u8 by_process;    /* 1 if only allocations of target processes are tracked */
	__u8 by_thread;     /* 1 if blocks contain the thread's tid instead of its tgid */
	__u8 wa_missing_free;
	__u8 percpu;
	__u8 movable; /* 1 if pages of user memory and of the page cache are tracked, too */
	__u8 page_shift;
	__s64 preempt_count_at; /* offset of preempt_count from the CPU's run queue; 0 if unknown */
	struct memleak_value_places at;
	/*
	 * Kernel functions that allocate pages for the slab allocator or, with -P, for percpu
	 * memory: their pages are not counted as blocks. Unused ranges are empty.
	 */
	struct memleak_code_range slab_functions[MEMLEAK_SLAB_FUNCTIONS];
	/* Interrupt entry code, at which the stack of an interrupt ends. */
	struct memleak_code_range interrupt_edges[MEMLEAK_INTERRUPT_EDGES];
};

/*
 * Maximum order of a block of pages. The BPF programs identify pages by frame numbers that may
 * differ from the kernel's by a constant: neighbouring pages have successive numbers, and a block
 * of 2^n pages starts at a multiple of 2^n. The programs find out where frame 0 is in the kernel's
 * direct mapping.
 */
#define MEMLEAK_MAX_PAGE_ORDER 18

#endif
