// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds functions of the kernel by name. */
#include "loader/kernel/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/order.h"

/*
 * Maximum size of a function in bytes. If another function begins within this distance, the
 * function ends there.
 */
#define MOST_BYTES 65536
/* Maximum number of innermost frames that may belong to the tracing code */
#define TRACING_DEPTH 8
/* Number of innermost frames that are searched for functions of the page cache or of vmalloc(). */
#define ASKING_DEPTH 8

/*
 * Functions with which slab allocators allocate pages: for slabs of SLUB, for slabs of SLAB (before
 * Linux 6.8), and for objects that are too large for slabs
 */
static const char *const slab_names[] = {
	"allocate_slab", "new_slab",         "___slab_alloc",         "alloc_slab_page",
	"kmem_getpages", "cache_grow_begin", "___kmalloc_large_node", "__kmalloc_large_node*",
	"kmalloc_large", "kmalloc_large_*",  "kmalloc_order*",        NULL,
};

/*
 * Functions at which interrupts enter the kernel. On x86-64, all entry code is in one section,
 * whose bounds are symbols.
 */
static const char *const edge_names[] = {
	"__entry_text_start", "handle_softirqs", "__do_softirq", "el1h_64_irq_handler", NULL,
};

static const char *const tracing_names[] = {
	"bpf_trace_run*",
	"__bpf_trace_km*",
	"__bpf_trace_kfree*",
	"__bpf_trace_mm_page*",
	"__bpf_trace_percpu*",
	"__traceiter_km*",
	"__traceiter_kfree*",
	"__traceiter_mm_page*",
	"__traceiter_percpu*",
	"trace_call_bpf*",
	NULL,
};

/* Functions that allocate pages for the page cache, including metadata of file systems */
static const char *const page_cache_names[] = {
	"__filemap_get_folio*", "filemap_alloc_folio*", "__page_cache_alloc",   "page_cache_ra_*",
	"__do_page_cache_*",    "pagecache_get_page",   "do_read_cache_*",      "__getblk*",
	"bdev_getblk",          "grow_dev_*",           "alloc_extent_buffer*", NULL,
};

static const char *const percpu_names[] = {"pcpu_populate_chunk", "pcpu_alloc_pages", NULL};

static const char *const vmalloc_names[] = {
	"__vmalloc_node_range*",
	"__vmalloc_area_node",
	"vm_area_alloc_pages",
	NULL,
};

struct scan {
	struct kernel_functions *ret;
	uint64_t *addrs; /* addresses of all functions */
	size_t cnt;
	size_t cap;
};

static void add(struct memleak_code_range *ranges, size_t cap, size_t *cnt, uint64_t addr)
{
	if (*cnt < cap)
		ranges[(*cnt)++] = (struct memleak_code_range){addr, addr + MOST_BYTES};
}

/*
 * True if name matches pattern, which may end in '*'. Ignores suffixes that compilers add to names,
 * such as ".isra.0", ".part.0" or ".cold".
 */
static bool is_like(const char *name, const char *pattern)
{
	size_t len = strcspn(pattern, "*");

	return !strncmp(name, pattern, len) && (pattern[len] || !name[len] || name[len] == '.');
}

static bool is_one_of(const char *name, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (is_like(name, *patterns))
			return true;
	return false;
}

static int take_symbol(struct scan *scan, uint64_t addr, const char *name)
{
	struct kernel_functions *ret = scan->ret;

	if (array_reserve(&scan->addrs, &scan->cap, scan->cnt + 1))
		return -ENOMEM;
	scan->addrs[scan->cnt++] = addr;
	if (is_one_of(name, slab_names))
		add(ret->slab, MEMLEAK_SLAB_FUNCTIONS, &ret->slab_cnt, addr);
	else if (is_one_of(name, page_cache_names))
		add(ret->page_cache, PAGE_CACHE_FUNCTIONS, &ret->page_cache_cnt, addr);
	else if (is_one_of(name, percpu_names))
		add(ret->percpu, PERCPU_FUNCTIONS, &ret->percpu_cnt, addr);
	else if (is_one_of(name, vmalloc_names))
		add(ret->vmalloc, VMALLOC_FUNCTIONS, &ret->vmalloc_cnt, addr);
	else if (is_one_of(name, edge_names))
		add(ret->edges, MEMLEAK_INTERRUPT_EDGES, &ret->edge_cnt, addr);
	else if (is_one_of(name, tracing_names))
		add(ret->tracing, TRACING_FUNCTIONS, &ret->tracing_cnt, addr);
	else if (!strcmp(name, "__entry_text_end"))
		for (size_t i = 0; i < ret->edge_cnt; i++)
			if (addr - ret->edges[i].start < MOST_BYTES)
				ret->edges[i].end = addr;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ORDER(x, y);
}

/* Sets the end of each range that has no end yet to the start of the next function. */
static void end_ranges(const struct scan *scan, struct memleak_code_range *ranges, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		size_t next = bisect_numbers(scan->addrs, scan->cnt, ranges[i].start + 1);

		if (ranges[i].end == ranges[i].start + MOST_BYTES && next < scan->cnt &&
		    scan->addrs[next] < ranges[i].end)
			ranges[i].end = scan->addrs[next];
	}
}

static void take_variable(struct kernel_functions *ret, uint64_t addr, const char *name)
{
	if (!strcmp(name, "runqueues"))
		ret->run_queue = addr;
	else if (!strcmp(name, "__preempt_count"))
		ret->preempt_count = addr;
}

/*
 * Parses lines such as "ffffffff8162ead0 t allocate_slab". Skips the symbols of modules; their
 * lines end in "\t[module]".
 */
static int read_symbols(FILE *kallsyms, struct scan *scan)
{
	cleanup_free char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, kallsyms)) > 0) {
		const char *at = line;
		uint64_t addr = 0;
		int err;

		number_take(&at, NULL, 16, &addr);
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (!addr || at[0] != ' ' || !at[1] || at[2] != ' ' || strchr(at, '\t'))
			continue;
		if (!memchr("tTwW", at[1], 4)) {
			take_variable(scan->ret, addr, at + 3);
			continue;
		}
		err = take_symbol(scan, addr, at + 3);
		if (err)
			return err;
	}
	return 0;
}

int kernel_functions_read(FILE *kallsyms, struct kernel_functions *ret)
{
	struct scan scan = {.ret = ret};
	int err;

	*ret = (struct kernel_functions){0};
	err = read_symbols(kallsyms, &scan);
	if (!err && scan.cnt) {
		qsort(scan.addrs, scan.cnt, sizeof(*scan.addrs), by_address);
		end_ranges(&scan, ret->slab, ret->slab_cnt);
		end_ranges(&scan, ret->edges, ret->edge_cnt);
		end_ranges(&scan, ret->tracing, ret->tracing_cnt);
		end_ranges(&scan, ret->page_cache, ret->page_cache_cnt);
		end_ranges(&scan, ret->percpu, ret->percpu_cnt);
		end_ranges(&scan, ret->vmalloc, ret->vmalloc_cnt);
	}
	free(scan.addrs);
	return err;
}

static bool is_in(const struct memleak_code_range *ranges, size_t cnt, uint64_t addr)
{
	for (size_t i = 0; i < cnt; i++)
		if (addr >= ranges[i].start && addr < ranges[i].end)
			return true;
	return false;
}

size_t kernel_functions_tracing_frames(const struct kernel_functions *functions,
				       const uint64_t *frames, size_t cnt)
{
	size_t skipped = 0;

	for (size_t i = 0; i < cnt && i < TRACING_DEPTH; i++)
		if (is_in(functions->tracing, functions->tracing_cnt, frames[i]))
			skipped = i + 1;
	return skipped < cnt ? skipped : 0;
}

static bool passes(const struct memleak_code_range *ranges, size_t range_cnt,
		   const uint64_t *frames, size_t cnt)
{
	for (size_t i = 0; i < cnt && i < ASKING_DEPTH; i++)
		if (is_in(ranges, range_cnt, frames[i]))
			return true;
	return false;
}

bool kernel_functions_vmalloc(const struct kernel_functions *functions, const uint64_t *frames,
			      size_t cnt)
{
	return passes(functions->vmalloc, functions->vmalloc_cnt, frames, cnt);
}

bool kernel_functions_page_cache(const struct kernel_functions *functions, const uint64_t *frames,
				 size_t cnt)
{
	return passes(functions->page_cache, functions->page_cache_cnt, frames, cnt);
}
