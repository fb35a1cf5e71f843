/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-made snapshots and what their addresses are called: the input of the golden tests. Each
 * scene has an expected text and JSON report beside this file.
 */
#ifndef SCENES_H
#define SCENES_H

#include <math.h>

#include "report/peak.h"
#include "report/report.h"

#define MS 1000000ULL
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct scene {
	const char *name;
	struct options opts;
	const struct snapshot *before; /* NULL: the first report */
	unsigned int growing;          /* in how many reports it has become what it is */
	struct snapshot snap;
	bool final;
};

/* 2026-11-20T20:30:01.123Z */
#define WALL_NS 1795206601123456789LL
#define SNAPSHOT_OF(first_site, cnt, ...)                                                          \
	{                                                                                          \
		.wall_ns = WALL_NS, .t0_ns = 1000000 * MS, .walk_ns = 12 * MS,                     \
		.elapsed_ns = 5000123456, .sites = (first_site), .site_cnt = (cnt), .calls = 1234, \
		__VA_ARGS__                                                                        \
	}
#define SNAPSHOT(array, ...) SNAPSHOT_OF(array, LENGTH(array), __VA_ARGS__)
#define STACK(array) .frames = (array), .frame_cnt = LENGTH(array)
#define AGES(newest, oldest) .newest_ns = (newest), .oldest_ns = (oldest)

static struct process leak = {
	.image = 1, .pid = 4711, .comm = (char *)"leak", .cgroup = (char *)"/a\x1b[2J/\xff"};
static struct process other = {
	.image = 2, .pid = 4712, .comm = (char *)"a (b) c", .cgroup = (char *)"/"};
static struct process hostile = {.image = 3, .pid = 666, .comm = (char *)"\x1b[2Jx\xff\n\"\\"};

/* What addresses are called. */

#define FRAMES(...)                                                                                \
	(const struct sym_frame[])                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define PROGRAM .module = "/usr/bin/leak", .build_id = "0123456789abcdef0123456789abcdef01234567"
#define LIBC .module = "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBCXX .module = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"
#define ONE(...) .frame_cnt = 1, .frames = FRAMES({__VA_ARGS__})

static const struct sym_location known_locations[] = {
	{.addr = 0x55d0c001118d,
	 PROGRAM,
	 .module_offset = 0x118d,
	 ONE(.symbol = "leak_small", .offset = 29, .file = "leak.c", .line = 12)},
	{.addr = 0x55d0c00111ad,
	 PROGRAM,
	 .module_offset = 0x11ad,
	 ONE(.symbol = "leak_big", .offset = 0x1d, .file = "/home/u/src/leak.c", .line = 18)},
	{.addr = 0x55d0c001126d,
	 PROGRAM,
	 .module_offset = 0x126d,
	 ONE(.symbol = "main", .offset = 0x6d, .file = "../src/leak.c", .line = 40)},
	{.addr = 0x7f0000027305,
	 LIBC,
	 .module_offset = 0x27305,
	 ONE(.symbol = "__libc_start_main", .offset = 0x85)},
	{.addr = 0x7f0000099e0e,
	 LIBC,
	 .module_offset = 0x99e0e,
	 ONE(.symbol = "malloc", .offset = 0x1e)},
	{.addr = 0x7f00000fffff, LIBC, .module_offset = 0xfffff, ONE(.symbol = NULL)},
	{.addr = 0x7f000014da9c,
	 LIBCXX,
	 .module_offset = 0xada9c,
	 ONE(.symbol = "operator new(unsigned long)", .offset = 0x1c)},
	{.addr = 0x7ffc00000abc,
	 .module = "[vdso]",
	 .module_offset = 0xabc,
	 ONE(.symbol = "__vdso_gettimeofday", .offset = 0xc)},
	{.addr = 0x7ffc00000fff, .module = "[vdso]", .module_offset = 0xfff, ONE(.symbol = NULL)},
	{.addr = 0x7f1200000040,
	 .module = "[jit]",
	 .module_offset = 0x7f1200000040,
	 ONE(.symbol = "Function:~run app.js:3")},
	{.addr = 0x10, ONE(.symbol = NULL)},
	{.addr = 0x55d0c0011300,
	 PROGRAM,
	 .module_offset = 0x1300,
	 .frame_cnt = 3,
	 .frames = FRAMES({.symbol = "std::vector<int, std::allocator<int> >::push_back(int&&)",
			   .file = "/usr/include/c++/12/bits/stl_vector.h",
			   .line = 1294,
			   .inlined = true},
			  {.symbol = "fill(std::vector<int, std::allocator<int> >&)",
			   .file = "fill.cc",
			   .line = 7,
			   .inlined = true},
			  {.symbol = "run()", .offset = 0x40, .file = "/src/run.cc", .line = 99})},
	{.addr = 0x55d0c0011400,
	 PROGRAM,
	 .module_offset = 0x1400,
	 ONE(.symbol = "no_line", .offset = 0, .file = "gen/no_line.c")},
	{.addr = 0x666,
	 .module = "/tmp/\x1b]0;owned\x07/lib\xe2\x80\xae"
		   "os.\xc3\xa9.so\n",
	 .module_offset = 1,
	 ONE(.symbol = "\t80 bytes in 5 allocations from stack\n\t\tmain+0x0 "
		       "\xf0\x9f\x92\xa7\xed\xa0\x80",
	     .offset = UINT64_MAX,
	     .file = "dir\x7f/\xc2\x9b"
		     "31m\"'\\.c",
	     .line = UINT32_MAX)},
	{.addr = 0x667, .module = "/", .module_offset = UINT64_MAX, ONE(.symbol = NULL)},
	{.addr = 0x668, .module = "", ONE(.symbol = "", .offset = 1, .file = "")},
};

static const uint64_t small_stack[] = {0x55d0c001118d, 0x55d0c001126d, 0x7f0000027305};
static const uint64_t big_stack[] = {0x55d0c00111ad, 0x55d0c001126d};
static const uint64_t cxx_stack[] = {0x7f000014da9c, 0x55d0c0011300, 0x55d0c001126d};
static const uint64_t odd_stack[] = {0x7f00000fffff, 0x55d0c0011400,    0x7ffc00000abc,
				     0x7ffc00000fff, 0x7f1200000040,    0x10,
				     0xdeadbeef,     0xffffffffffffffff};
static const uint64_t hostile_stack[] = {0x666, 0x667, 0x668};
static const uint64_t allocator_stack[] = {0x7f000014da9c, 0x7f0000099e0e};

#define SMALL                                                                                      \
	{                                                                                          \
		.id = 0x9f3c000000000001, .process = &leak, .bytes = 80, .count = 5,               \
		AGES(600 * MS, 4900 * MS), STACK(small_stack), .end = UNWIND_END_COMPLETE          \
	}
#define BIG                                                                                        \
	{                                                                                          \
		.id = 0x2, .process = &leak, .bytes = 5242880, .count = 5,                         \
		AGES(600 * MS, 4900 * MS), STACK(big_stack), .end = UNWIND_END_COMPLETE            \
	}

static struct site plain_sites[] = {SMALL, BIG};

static struct site growth_before[] = {
	SMALL,
	BIG,
	{.id = 3, .process = &leak, .bytes = 1000, .count = 10, STACK(cxx_stack)},
	{.id = 4, .process = &leak, .bytes = 999, .count = 9, STACK(odd_stack)},
};
static const struct snapshot growth_snapshot = SNAPSHOT(growth_before);
static struct site growth_sites[] = {
	{.id = 3,
	 .process = &leak,
	 .bytes = 400,
	 .count = 4,
	 AGES(5000 * MS, 5040 * MS),
	 STACK(cxx_stack)},
	{.id = 0x9f3c000000000001,
	 .process = &leak,
	 .bytes = 80,
	 .count = 5,
	 AGES(5600 * MS, 9900 * MS),
	 STACK(small_stack)},
	{.id = 0x2,
	 .process = &leak,
	 .bytes = 6291456,
	 .count = 6,
	 AGES(0, 9949 * MS),
	 STACK(big_stack)},
	{.id = 0x5,
	 .process = &leak,
	 .bytes = 64,
	 .count = 4,
	 AGES(700 * MS, 800 * MS),
	 STACK(big_stack)},
};

static struct site hostile_sites[] = {
	{.id = 1, .process = &hostile, .bytes = 80, .count = 5, AGES(MS, MS), STACK(hostile_stack)},
	{.id = 2, .process = &leak, .bytes = 8, .count = 1, AGES(MS, MS), STACK(small_stack)},
};

static struct site frame_sites[] = {
	{.id = 1, .process = &leak, .bytes = 5, .count = 1, AGES(MS, MS), STACK(cxx_stack)},
	{.id = 2, .process = &leak, .bytes = 4, .count = 1, AGES(MS, MS), STACK(odd_stack)},
	{.id = 3, .process = &leak, .bytes = 3, .count = 1, AGES(MS, MS), STACK(allocator_stack)},
	{.id = 4, .process = &leak, .bytes = 2, .count = 1, AGES(MS, MS)},
	{.id = 5,
	 .process = &leak,
	 .bytes = 1,
	 .count = 1,
	 AGES(1500 * MS, 61234 * MS),
	 STACK(big_stack),
	 .end = UNWIND_END_TRUNCATED},
};

static struct site kind_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .kind = MEMLEAK_KIND_HEAP,
	 .bytes = 0,
	 .count = 3,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 2,
	 .process = &leak,
	 .kind = MEMLEAK_KIND_MMAP,
	 .bytes = 8192,
	 .count = 2,
	 AGES(1000 * MS, 2000 * MS),
	 STACK(small_stack)},
	{.id = 3,
	 .process = &leak,
	 .kind = MEMLEAK_KIND_RESERVE,
	 .bytes = 2199023255552,
	 .count = 1,
	 AGES(1000 * MS, 1000 * MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &leak,
	 .kind = MEMLEAK_KIND_STACK,
	 .bytes = 8392704,
	 .count = 1,
	 AGES(1000 * MS, 1000 * MS),
	 STACK(small_stack)},
	{.id = 5,
	 .space = SPACE_KERNEL,
	 .kind = MEMLEAK_KIND_SLAB,
	 .bytes = 512,
	 .count = 1,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(small_stack)},
	{.id = 6,
	 .space = SPACE_KERNEL,
	 .kind = MEMLEAK_KIND_PAGE,
	 .bytes = 4096,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 7,
	 .space = SPACE_KERNEL,
	 .kind = MEMLEAK_KIND_PERCPU,
	 .bytes = 32,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
};

#define ORIGIN(...) .space = SPACE_KERNEL, .origin = {__VA_ARGS__}

#include "tests/golden/scenes_views.h"

static const struct scene scenes[] = {
	{.name = "plain", .opts.top = 10, .snap = SNAPSHOT(plain_sites)},
	{.name = "final", .opts.top = 10, .snap = SNAPSHOT(plain_sites), .final = true},
	{.name = "empty", .opts.top = 10, .snap = SNAPSHOT_OF(NULL, 0)},
	{.name = "left-out",
	 .opts.top = 10,
	 .snap = SNAPSHOT(plain_sites, .baseline_ns = 2345678901, .suppressed = suppressed,
			  .suppressed_cnt = LENGTH(suppressed))},
	{.name = "proposed",
	 .opts = {.top = 10, .gen_suppressions = true},
	 .snap = SNAPSHOT(frame_sites)},
	{.name = "proposed-hostile",
	 .opts = {.top = 10, .gen_suppressions = true},
	 .snap = SNAPSHOT(hostile_sites)},
	{.name = "top", .opts.top = 1, .snap = SNAPSHOT(plain_sites)},
	{.name = "growth",
	 .opts.top = 10,
	 .before = &growth_snapshot,
	 .snap = SNAPSHOT(growth_sites)},
	{.name = "sort-growth",
	 .opts = {.top = 2, .sort = SORT_GROWTH},
	 .before = &growth_snapshot,
	 .snap = SNAPSHOT(growth_sites)},
	{.name = "hostile", .opts.top = 10, .snap = SNAPSHOT(hostile_sites)},
	{.name = "processes", .opts.top = 10, .snap = SNAPSHOT(process_sites)},
	{.name = "inherited", .opts.top = 10, .snap = SNAPSHOT(inherited_sites)},
	{.name = "frames", .opts.top = 10, .snap = SNAPSHOT(frame_sites)},
	{.name = "kinds", .opts.top = 10, .snap = SNAPSHOT(kind_sites)},
	{.name = "kernel",
	 .opts.top = 10,
	 .snap = SNAPSHOT(kernel_sites, .replaced = 3, .gone_with_page = 4)},
	{.name = "huge", .opts.top = 10, .before = &huge_snapshot, .snap = SNAPSHOT(huge_sites)},
	{.name = "blocks",
	 .opts = {.top = 10, .show_allocs = true},
	 .snap = SNAPSHOT(block_sites, .blocks = blocks, .block_cnt = LENGTH(blocks))},
	{.name = "sampled",
	 .opts.top = 10,
	 .snap = SNAPSHOT(sampled_sites, .sampling = {SAMPLING_COUNT, 10})},
	{.name = "sampled-bytes",
	 .opts.top = 10,
	 .snap = SNAPSHOT(sampled_sites, .sampling = {SAMPLING_BYTES, 524288})},
	{.name = "sampled-huge",
	 .opts.top = 10,
	 .snap = SNAPSHOT(huge_sampled_sites, .sampling = {SAMPLING_BYTES, 1ULL << 40})},
	{.name = "sampled-sizeless",
	 .opts = {.top = 10, .combined_only = true},
	 .snap = SNAPSHOT(sizeless_sites, .sampling = {SAMPLING_COUNT, 10})},
	{.name = "by-process",
	 .opts = {.top = 10, .by = BY_PROCESS},
	 .before = &group_snapshot,
	 .snap = SNAPSHOT(group_sites)},
	{.name = "by-process-sampled",
	 .opts = {.top = 10, .by = BY_PROCESS},
	 .snap = SNAPSHOT(sampled_sites, .sampling = {SAMPLING_COUNT, 10})},
	{.name = "by-module",
	 .opts = {.top = 10, .by = BY_MODULE},
	 .before = &group_snapshot,
	 .snap = SNAPSHOT(group_sites)},
	{.name = "by-module-top",
	 .opts = {.top = 1, .by = BY_MODULE, .sort = SORT_GROWTH},
	 .before = &growth_snapshot,
	 .snap = SNAPSHOT(growth_sites)},
	{.name = "by-thread",
	 .opts = {.top = 10, .by = BY_THREAD, .show_allocs = true},
	 .snap = SNAPSHOT(thread_sites, .blocks = thread_blocks,
			  .block_cnt = LENGTH(thread_blocks))},
	{.name = "by-thread-sampled",
	 .opts = {.top = 1, .by = BY_THREAD},
	 .snap = SNAPSHOT(thread_sites, .blocks = thread_blocks, .block_cnt = LENGTH(thread_blocks),
			  .sampling = {SAMPLING_BYTES, 524288})},
	{.name = "by-cgroup",
	 .opts = {.top = 10, .by = BY_CGROUP},
	 .before = &group_snapshot,
	 .snap = SNAPSHOT(group_sites)},
	{.name = "by-empty", .opts = {.top = 10, .by = BY_THREAD}, .snap = SNAPSHOT_OF(NULL, 0)},
	{.name = "largest", .opts = {.top = 10, .largest = true}, .snap = SNAPSHOT(largest_sites)},
	{.name = "largest-top",
	 .opts = {.top = 1, .largest = true, .by = BY_PROCESS},
	 .snap = SNAPSHOT(largest_sites)},
	{.name = "largest-none",
	 .opts = {.top = 10, .largest = true},
	 .snap = SNAPSHOT_OF(NULL, 0)},
	{.name = "stats",
	 .opts = {.top = 1, .stats = true},
	 .snap = SNAPSHOT(plain_sites, .figures = {USER_FIGURES})},
	{.name = "stats-both",
	 .opts = {.top = 1, .stats = true},
	 .snap = SNAPSHOT(plain_sites, .figures = {USER_FIGURES, KERNEL_FIGURES},
			  .lost = {[MEMLEAK_LOST_ALLOCS_FULL] = 3})},
	{.name = "summary",
	 .opts = {.top = 1, .summary = true},
	 .snap = SNAPSHOT(plain_sites, .summaries = summaries, .summary_cnt = LENGTH(summaries))},
	{.name = "summary-sort",
	 .opts = {.top = 1, .summary = true, .summary_sort = SUMMARY_BY_FREED, .max_records = 1},
	 .snap = SNAPSHOT(plain_sites, .summaries = summaries, .summary_cnt = LENGTH(summaries))},
	{.name = "peak",
	 .opts = {.top = 2, .peak = true},
	 .snap = SNAPSHOT(plain_sites, .peak = &peak)},
	{.name = "peak-by-count",
	 .opts = {.top = 1, .peak = true, .sort = SORT_COUNT, .by = BY_PROCESS, .largest = true},
	 .snap = SNAPSHOT(plain_sites, .peak = &peak)},
	{.name = "peak-now",
	 .opts = {.top = 10, .peak = true},
	 .snap = SNAPSHOT(plain_sites, .peak = &peak_now)},
	{.name = "peak-none",
	 .opts = {.top = 10, .peak = true},
	 .snap = SNAPSHOT_OF(NULL, 0, .peak = &no_peak)},
	{.name = "max-records",
	 .opts = {.top = 10, .largest = true, .by = BY_PROCESS, .max_records = 1},
	 .snap = SNAPSHOT(largest_sites)},
	{.name = "suspects", .opts.top = 1, .growing = 12, .snap = SNAPSHOT(plain_sites)},
	{.name = "suspects-more", .opts.top = 1, .growing = 8, .snap = SNAPSHOT(group_sites)},
	{.name = "suspects-kernel", .opts.top = 1, .growing = 9, .snap = SNAPSHOT(kernel_sites)},
	{.name = "suspects-none",
	 .opts = {.top = 1, .sort = SORT_SCORE},
	 .before = &growth_snapshot,
	 .growing = 4,
	 .snap = SNAPSHOT(growth_sites)},
	{.name = "lost",
	 .opts.top = 1,
	 .snap = SNAPSHOT_OF(frame_sites + 3, 1,
			     .lost = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, UINT64_MAX, 12})},
};

#endif
