/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the address ranges of the kernel functions by which stacks are classified: functions that
 * allocate pages for the slab allocator, the page cache, percpu memory or vmalloc(); entry points
 * of interrupts; and functions that run between an event and its BPF program.
 */
#ifndef LOADER_KERNEL_FUNCTIONS_H
#define LOADER_KERNEL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/kernel.h"

#define TRACING_FUNCTIONS 64
#define PAGE_CACHE_FUNCTIONS 32
#define PERCPU_FUNCTIONS 4
#define VMALLOC_FUNCTIONS 8

struct kernel_functions {
	struct memleak_code_range slab[MEMLEAK_SLAB_FUNCTIONS];
	size_t slab_cnt;
	struct memleak_code_range edges[MEMLEAK_INTERRUPT_EDGES];
	size_t edge_cnt;
	struct memleak_code_range tracing[TRACING_FUNCTIONS];
	size_t tracing_cnt;
	struct memleak_code_range page_cache[PAGE_CACHE_FUNCTIONS];
	size_t page_cache_cnt;
	struct memleak_code_range percpu[PERCPU_FUNCTIONS];
	size_t percpu_cnt;
	struct memleak_code_range vmalloc[VMALLOC_FUNCTIONS];
	size_t vmalloc_cnt;
	/* Addresses of two percpu variables, or 0 if unknown; only their distance is used */
	uint64_t run_queue;
	uint64_t preempt_count;
};

/*
 * Reads a file in the format of /proc/kallsyms. Returns 0 or a negative errno. All ranges are empty
 * if kernel.kptr_restrict hides addresses.
 */
int kernel_functions_read(FILE *kallsyms, struct kernel_functions *ret);

/*
 * Returns the number of innermost frames that belong to the tracing code of the kernel; 0 if all
 * frames do.
 */
size_t kernel_functions_tracing_frames(const struct kernel_functions *functions,
				       const uint64_t *frames, size_t cnt);

/*
 * True if the memory was allocated for the page cache. The kernel reclaims such memory when needed.
 */
bool kernel_functions_page_cache(const struct kernel_functions *functions, const uint64_t *frames,
				 size_t cnt);

/* True if vmalloc() allocated the memory. */
bool kernel_functions_vmalloc(const struct kernel_functions *functions, const uint64_t *frames,
			      size_t cnt);

#endif
