/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where functions of the kernel lie that tell stacks apart: the slab allocator's, which ask for
 * pages; those of the page cache, of percpu memory and of vmalloc(), which do so, too; the entries
 * of interrupts; and those by which an event reaches a BPF program.
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
	/* Variables that each CPU has: what matters is how far they are apart. 0: not told. */
	uint64_t run_queue;
	uint64_t preempt_count;
};

/*
 * Reads /proc/kallsyms, or a file like it. 0 or a negative errno; without addresses
 * (kernel.kptr_restrict) all are empty.
 */
int kernel_functions_read(FILE *kallsyms, struct kernel_functions *ret);

/* How many of the innermost frames are the tracer's own. */
size_t kernel_functions_tracing_frames(const struct kernel_functions *functions,
				       const uint64_t *frames, size_t cnt);

/* Whether the page cache has asked for the memory, which the kernel takes back when it needs some.
 */
bool kernel_functions_page_cache(const struct kernel_functions *functions, const uint64_t *frames,
				 size_t cnt);

/* Whether vmalloc() has asked for it. */
bool kernel_functions_vmalloc(const struct kernel_functions *functions, const uint64_t *frames,
			      size_t cnt);

#endif
