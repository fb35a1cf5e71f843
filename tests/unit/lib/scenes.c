// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines the scenes, and the processes, stacks, sites and blocks that they consist of. */
#include "tests/unit/lib/scenes.h"

#include <math.h>
#include <signal.h>

struct process leak = {
	.image = 1, .pid = 4711, .comm = (char *)"leak", .cgroup = (char *)"/a\x1b[2J/\xff"};
static struct process other = {
	.image = 2, .pid = 4712, .comm = (char *)"a (b) c", .cgroup = (char *)"/"};
static struct process worker = {.image = 4, .pid = 4713, .comm = (char *)"leak"};
struct process hostile = {.image = 3, .pid = 666, .comm = (char *)"\x1b[2Jx\xff\n\"\\"};

/* The module, symbol, file and line of each address in the scenes. */

#define LIBC .module = "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define LIBCXX .module = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"

const struct sym_location known_locations[] = {
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
	/* Variables. */
	{.addr = 0x55d0c0014040,
	 PROGRAM,
	 .module_offset = 0x4040,
	 ONE(.symbol = "sessions", .file = "/home/u/src/session.c", .line = 15)},
	{.addr = 0x55d0c0014080,
	 PROGRAM,
	 .module_offset = 0x4080,
	 ONE(.symbol = "cache.lto_priv.0")},
	{.addr = 0x669,
	 .module = "/tmp/\x1b]0;owned\x07/lib\xff.so",
	 .module_offset = 0x669,
	 ONE(.symbol = "\"\t-> \x1b[2J\xff\n", .file = "dir\x7f/\\.c", .line = UINT32_MAX)},
};

const uint64_t small_stack[] = {0x55d0c001118d, 0x55d0c001126d, 0x7f0000027305};
const uint64_t big_stack[] = {0x55d0c00111ad, 0x55d0c001126d};
const uint64_t cxx_stack[] = {0x7f000014da9c, 0x55d0c0011300, 0x55d0c001126d};
const uint64_t odd_stack[] = {0x7f00000fffff, 0x55d0c0011400, 0x7ffc00000abc, 0x7ffc00000fff,
			      0x7f1200000040, 0x10,           0xdeadbeef,     0xffffffffffffffff};
const uint64_t hostile_stack[] = {0x666, 0x667, 0x668};
static const uint64_t allocator_stack[] = {0x7f000014da9c, 0x7f0000099e0e};

static struct site plain_sites[] = {SMALL, BIG};

static struct site pinning_sites[] = {
	{.id = 0x9f3c000000000001,
	 .process = &leak,
	 .bytes = 80,
	 .count = 5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(small_stack),
	 .pinned_bytes = 5 << 20},
	{.id = 2,
	 .process = &leak,
	 .bytes = 5242880,
	 .count = 5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(big_stack),
	 .pinned_bytes = 100},
	{.id = 3,
	 .process = &leak,
	 .bytes = 400,
	 .count = 4,
	 AGES(5000 * MS, 5040 * MS),
	 STACK(cxx_stack),
	 .pinned_bytes = 1 << 20},
	{.id = 4,
	 .process = &leak,
	 .bytes = 40,
	 .count = 1,
	 AGES(5000 * MS, 5000 * MS),
	 .end = STACK_END_UNKNOWN,
	 .pinned_bytes = 200 << 10},
};
static struct process_tally pinning_tally = {
	.process = &leak,
	.rss = {.parts = {[RSS_LIVE] = 6 << 20, [RSS_PINNED] = 9 << 20, [RSS_FILES] = 1 << 20},
		.arenas = 1,
		.has_blocks = true,
		.pinned_by_older = 3 << 20}};

static struct site descriptor_sites[] = {
	{.id = 1,
	 .kind = KIND_DESCRIPTOR,
	 .process = &leak,
	 .bytes = 60,
	 .count = 60,
	 .oldest_ns = 3000000000,
	 .newest_ns = 1000000000,
	 STACK(small_stack)},
	{.id = 2,
	 .kind = KIND_DESCRIPTOR,
	 .process = &leak,
	 .bytes = 1,
	 .count = 1,
	 .oldest_ns = 2000000000,
	 .newest_ns = 2000000000,
	 STACK(big_stack)},
};

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

struct site hostile_sites[] = {
	{.id = 1, .process = &hostile, .bytes = 80, .count = 5, AGES(MS, MS), STACK(hostile_stack)},
	{.id = 2, .process = &leak, .bytes = 8, .count = 1, AGES(MS, MS), STACK(small_stack)},
};

/* A function that recurses directly, and a cycle of three functions, two of which are inlined. */
static const uint64_t recursive_stack[] = {
	0x55d0c001118d, 0x55d0c0011400, 0x55d0c0011400, 0x55d0c0011400, 0x55d0c0011400,
	0x55d0c0011300, 0x55d0c0011300, 0x55d0c0011300, 0x55d0c0011300, 0x55d0c001126d,
};
/* Like recursive_stack, but with deeper recursion in each function. */
static const uint64_t deeper_stack[] = {
	0x55d0c001118d, 0x55d0c0011400, 0x55d0c0011400, 0x55d0c0011400, 0x55d0c0011400,
	0x55d0c0011400, 0x55d0c0011300, 0x55d0c0011300, 0x55d0c0011300, 0x55d0c0011300,
	0x55d0c0011300, 0x55d0c0011300, 0x55d0c001126d,
};
/* The third stack has the frames of another one but is truncated. */
struct site recursive_sites[3] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 5000,
	 .count = 50,
	 AGES(MS, MS),
	 STACK(recursive_stack),
	 .end = STACK_END_COMPLETE},
	{.id = 2,
	 .process = &leak,
	 .bytes = 4000,
	 .count = 40,
	 .inherited_bytes = 100,
	 .inherited_count = 1,
	 AGES(1500 * MS, 61234 * MS),
	 STACK(deeper_stack),
	 .end = STACK_END_COMPLETE},
	{.id = 3,
	 .process = &leak,
	 .bytes = 3000,
	 .count = 30,
	 AGES(MS, MS),
	 STACK(deeper_stack),
	 .end = STACK_END_TRUNCATED},
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
	 .end = STACK_END_TRUNCATED},
};

struct site kind_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .kind = KIND_HEAP,
	 .bytes = 0,
	 .count = 3,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 2,
	 .process = &leak,
	 .kind = KIND_MMAP,
	 .bytes = 8192,
	 .count = 2,
	 AGES(1000 * MS, 2000 * MS),
	 STACK(small_stack)},
	{.id = 3,
	 .process = &leak,
	 .kind = KIND_RESERVE,
	 .bytes = 2199023255552,
	 .count = 1,
	 AGES(1000 * MS, 1000 * MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &leak,
	 .kind = KIND_STACK,
	 .bytes = 8392704,
	 .count = 1,
	 AGES(1000 * MS, 1000 * MS),
	 STACK(small_stack)},
	{.id = 5,
	 .space = SPACE_KERNEL,
	 .kind = KIND_SLAB,
	 .bytes = 512,
	 .count = 1,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(small_stack)},
	{.id = 6,
	 .space = SPACE_KERNEL,
	 .kind = KIND_PAGE,
	 .bytes = 4096,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 7,
	 .space = SPACE_KERNEL,
	 .kind = KIND_PERCPU,
	 .bytes = 32,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
};

/*
 * Five growing slab caches, of which text reports show four, and two growing lines of kernel code.
 */
static const struct kernel_growth kernel_growths[] = {
	{GROWTH_OF_CACHE, "dentry", 40 << 20, 12 << 20, RECLAIM_YES},
	{GROWTH_OF_CACHE, "kmalloc-64", 5 << 20, 3251634, RECLAIM_NO},
	{GROWTH_OF_CACHE, "x\x1b[1m", 700 << 10, 300 << 10, RECLAIM_NO},
	{GROWTH_OF_CACHE, "inode_cache", 400 << 10, 200 << 10, RECLAIM_YES},
	{GROWTH_OF_CACHE, "filp", 300 << 10, 130 << 10, RECLAIM_NO},
	{GROWTH_OF_LINE, "fs/dcache.c:1683 __d_alloc", 39 << 20, 3 << 20, RECLAIM_UNKNOWN},
	{GROWTH_OF_LINE, "fs/fuse/dev.c:83 [fuse] fuse_request_alloc", 96 << 10, 80 << 10,
	 RECLAIM_UNKNOWN},
};

#define ORIGIN(...) .space = SPACE_KERNEL, .origin = {__VA_ARGS__}

static struct site kernel_sites[] = {
	{.id = 1,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak", .cache = "kmalloc-rcl-256",
		.reclaimable = true),
	 .kind = KIND_SLAB,
	 .bytes = 4096,
	 .count = 16,
	 AGES(MS, 2000 * MS),
	 STACK(small_stack)},
	{.id = 2,
	 ORIGIN(.last_pid = 12, .last_comm = "a\n(b)", .several_pids = true, .cache = "x\x1b[1m",
		.several_caches = true, .owner_pid = 13, .owner_comm = "c\n(d)", .unseen_frees = 5),
	 .kind = KIND_SLAB,
	 .bytes = 2048,
	 .count = 8,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 3,
	 ORIGIN(.interrupt = true),
	 .kind = KIND_PAGE,
	 .bytes = 1024,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &leak,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak"),
	 .kind = KIND_PERCPU,
	 .bytes = 32,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
};

/*
 * Sites of reclaimable kernel memory with several stacks for each kind of memory, and a site whose
 * cache has no name.
 */
#define RECLAIMABLE(number, its_kind, its_cache, its_bytes, its_count)                             \
	{                                                                                          \
		.id = (number), ORIGIN(.cache = (its_cache), .reclaimable = true),                 \
		.kind = (its_kind), .bytes = (its_bytes), .count = (its_count), AGES(MS, MS),      \
		STACK(small_stack)                                                                 \
	}
static struct site cache_sites[] = {
	RECLAIMABLE(1, KIND_SLAB, "dentry", 192000, 1000),
	RECLAIMABLE(2, KIND_PAGE, NULL, 8192, 2),
	RECLAIMABLE(3, KIND_SLAB, "dentry", 192, 1),
	{.id = 4,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak", .cache = "kmalloc-64"),
	 .kind = KIND_SLAB,
	 .bytes = 64,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	RECLAIMABLE(5, KIND_SLAB, NULL, 4096, 4),
	RECLAIMABLE(6, KIND_SLAB, "x\x1b[1m", 600000, 1000),
};
#define CACHE_SNAPSHOT                                                                             \
	SNAPSHOT(cache_sites, .kernel_memory = {64 << 20, 300 << 20, 12 << 20},                    \
		 .kernel_memory_before = {60 << 20, 310 << 20, 12 << 20},                          \
		 .kernel_growths = kernel_growths, .kernel_growth_cnt = 2)

static struct site huge_sites[] = {
	{.id = UINT64_MAX,
	 .process = &leak,
	 .bytes = 3ULL << 40,
	 .count = 1ULL << 40,
	 AGES(0, 365ULL * 86400 * 1000 * MS),
	 STACK(small_stack)},
	{.id = 1, .process = &leak, .bytes = 1ULL << 62, .count = 1, AGES(0, 0), STACK(big_stack)},
};
static struct site huge_before[] = {
	{.id = UINT64_MAX,
	 .process = &leak,
	 .bytes = 5ULL << 40,
	 .count = 1ULL << 41,
	 STACK(small_stack)},
};
static const struct snapshot huge_snapshot = SNAPSHOT(huge_before);

static struct site block_sites[] = {BIG, SMALL};
static struct block blocks[] = {
	{.site = 0, .addr = 0x7f3000000010, .size = 1048576, .age_ns = 4900 * MS, .tid = 4711},
	{.site = 1, .addr = 0x55d0c3a2b2a0, .size = 16, .age_ns = 4900 * MS, .tid = 4711},
	{.site = 1, .addr = 0x55d0c3a2b2c0, .size = 0, .age_ns = 99 * MS, .tid = 4712},
	{.site = 1, .addr = UINT64_MAX, .size = UINT64_MAX, .age_ns = AGE_UNKNOWN, .tid = 4712},
};

/* Sites whose sampling variances are fractions, zero, too large to print, or unknown (NAN). */
struct site sampled_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 80000,
	 .count = 500,
	 .bytes_variance = 10000.5,
	 .count_variance = 24.5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(small_stack),
	 .end = STACK_END_COMPLETE},
	{.id = 2,
	 .process = &leak,
	 .bytes = 5242880,
	 .count = 5,
	 AGES(MS, MS),
	 STACK(big_stack),
	 .end = STACK_END_COMPLETE},
};
static struct site huge_sampled_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = UINT64_MAX,
	 .count = 1,
	 .bytes_variance = 1e50,
	 .count_variance = 1e-9,
	 AGES(MS, MS),
	 STACK(small_stack),
	 .end = STACK_END_COMPLETE},
};
static struct site sizeless_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 80,
	 .count = 10,
	 .bytes_variance = NAN,
	 .count_variance = 90,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(small_stack),
	 .end = STACK_END_COMPLETE},
};

static struct site process_sites[] = {
	SMALL,
	{.id = 7,
	 .process = &other,
	 .bytes = 80,
	 .count = 5,
	 AGES(600 * MS, 600 * MS),
	 STACK(small_stack)},
};

/* A site with some inherited blocks, and one with only inherited blocks. */
static struct site inherited_sites[] = {
	SMALL,
	{.id = 7,
	 .process = &other,
	 .bytes = 80,
	 .count = 5,
	 .inherited_bytes = 32,
	 .inherited_count = 2,
	 AGES(600 * MS, 600 * MS),
	 STACK(small_stack)},
	{.id = 8,
	 .process = &other,
	 .bytes = 40,
	 .count = 2,
	 .inherited_bytes = 40,
	 .inherited_count = 2,
	 AGES(600 * MS, 600 * MS),
	 STACK(big_stack)},
};

static struct site group_before[] = {
	SMALL,
	{.id = 7, .process = &other, .bytes = 1000, .count = 10, STACK(small_stack)},
};
static const struct snapshot group_snapshot = SNAPSHOT(group_before);
struct site group_sites[] = {
	SMALL,
	BIG,
	{.id = 7,
	 .process = &other,
	 .bytes = 64,
	 .count = 4,
	 AGES(600 * MS, 9000 * MS),
	 STACK(small_stack)},
	{.id = 8, .process = &hostile, .bytes = 32, .count = 2, AGES(MS, MS), STACK(hostile_stack)},
	{.id = 9,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak"),
	 .kind = KIND_SLAB,
	 .bytes = 16,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 10, .process = &leak, .bytes = 8, .count = 1, AGES(MS, MS), STACK(cxx_stack)},
	{.id = 11, .process = &leak, .bytes = 4, .count = 1, AGES(MS, MS)},
	{.id = 12, .process = &leak, .bytes = 0, .count = 0, AGES(MS, MS)},
	{.id = 13, .process = &leak, .bytes = 2, .count = 1, AGES(MS, MS), STACK(allocator_stack)},
};

/* A function in two processes. */
static struct site worker_sites[] = {
	BIG,
	{.id = 21,
	 .process = &worker,
	 .bytes = 4194304,
	 .count = 4,
	 AGES(600 * MS, 4900 * MS),
	 STACK(big_stack)},
};

struct site thread_sites[] = {BIG, SMALL};
struct block thread_blocks[] = {
	{.site = 0,
	 .addr = 1,
	 .size = 4194304,
	 .sampled_size = 4194304,
	 .age_ns = 9 * MS,
	 .tid = 4711},
	{.site = 0,
	 .addr = 2,
	 .size = 1048576,
	 .sampled_size = 2097152,
	 .age_ns = 8 * MS,
	 .tid = 4712},
	{.site = 1, .addr = 3, .size = 16, .sampled_size = 16, .age_ns = 7 * MS, .tid = 4712},
	{.site = 1, .addr = 4, .size = 16, .sampled_size = 16, .age_ns = 6 * MS, .tid = 4711},
	{.site = 1, .addr = 5, .size = 48, .sampled_size = 48, .age_ns = 5 * MS, .tid = 4712},
};

#define LARGEST(...) .largest = {__VA_ARGS__, .age_ns = 1500 * MS, .tid = 4712}

static struct site largest_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 300,
	 .count = 9,
	 LARGEST(.addr = 0x10, .size = 100),
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 2,
	 .process = &leak,
	 .bytes = 200,
	 .count = 1,
	 LARGEST(.addr = 0x20, .size = 200),
	 AGES(MS, MS),
	 STACK(cxx_stack)},
	{.id = 3,
	 .process = &leak,
	 .kind = KIND_RESERVE,
	 .bytes = 1ULL << 40,
	 .count = 1,
	 LARGEST(.addr = 0x30, .size = 1ULL << 40),
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &hostile,
	 .kind = KIND_MMAP,
	 .bytes = 4096,
	 .count = 1,
	 LARGEST(.addr = UINT64_MAX, .size = 4096),
	 AGES(MS, MS)},
	{.id = 5,
	 .process = &other,
	 .bytes = 0,
	 .count = 1,
	 LARGEST(.addr = 0x50),
	 AGES(MS, MS),
	 STACK(big_stack)},
};

static struct site peak_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 1000,
	 .count = 10,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(small_stack),
	 .end = STACK_END_COMPLETE},
	{.id = 2,
	 .process = &hostile,
	 .kind = KIND_MMAP,
	 .bytes = 4096,
	 .count = 1,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(hostile_stack),
	 .end = STACK_END_NO_CODE},
	{.id = 3,
	 .process = &leak,
	 .bytes = 2000,
	 .count = 2,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 .end = STACK_END_UNKNOWN},
};
static const struct peak peak = {
	.wall_ns = WALL_NS - 3400000000,
	.t0_ns = 1000000 * MS - 3400000000,
	.bytes = 7096,
	.count = 13,
	.highest_bytes = 8000,
	.sites = peak_sites,
	.site_cnt = LENGTH(peak_sites),
};
static const struct peak peak_now = {
	.wall_ns = WALL_NS,
	.t0_ns = 1000000 * MS,
	.bytes = 1000,
	.count = 10,
	.highest_bytes = 1000,
	.sites = peak_sites,
	.site_cnt = 1,
};
static const struct peak no_peak = {0};
static const struct peak peak_uncopied = {.highest_bytes = 16};

#define USER_FIGURES                                                                               \
	{                                                                                          \
		.known = true, .calls = 1234, .failed = 2, .walked = 3, .cached = 4, .checked = 5, \
		.disagreed = 6, .stored = 7,                                                       \
		.calls_of = {[FAMILY_MALLOC] = 1000, [FAMILY_FREE] = 230, [FAMILY_MREMAP] = 4},    \
		.fills = {{10, 1000000}, {20, 49152}, {30, 69632}, {40, 16384}, {50, 16384}},      \
	}
#define KERNEL_FIGURES                                                                             \
	{                                                                                          \
		.known = true, .calls = UINT64_MAX, .fills = {{1, 2}, {0, 0}, {3, 4}, {5, 6}},     \
	}

static struct process_summary summaries[] = {
	{&leak,
	 5242960,
	 80,
	 5242880,
	 5242960,
	 1048576,
	 15,
	 {[FAMILY_MALLOC] = 10, [FAMILY_FREE] = 5}},
	{&hostile, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, {0}},
};

/* Results of a proof. */

#define HELD(chain) .held_by = (chain), .held_by_cnt = LENGTH(chain)
#define REACH(...) .reach = {.proved = true, __VA_ARGS__}

static const struct holder chain_of_sessions[] = {
	{.kind = HOLDER_GLOBAL, .addr = 0x55d0c0014040, .path = "/usr/bin/leak"},
	{.kind = HOLDER_BLOCK, .site = &proved_sites[1], .repeats = 1},
	{.kind = HOLDER_BLOCK, .site = &proved_sites[3], .repeats = 17},
	{.kind = HOLDER_BLOCK, .repeats = 2},
	{.kind = HOLDER_BLOCK, .site = &proved_sites[5], .repeats = 1},
};
static const struct holder chain_of_cache[] = {
	{.kind = HOLDER_GLOBAL, .addr = 0x55d0c0014080, .path = "/usr/bin/leak", .is_likely = true},
};

struct site proved_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 80,
	 .count = 5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(small_stack),
	 REACH(.of = {[REACH_DEFINITE] = {64, 4}, [REACH_INDIRECT] = {16, 1}}, .lost = {48, 3},
	       .hanging = {2097168, 3}, .lost_per_s = 0.75, .lost_for_ns = 61999 * MS),
	 .end = STACK_END_COMPLETE},
	{.id = 2,
	 .process = &leak,
	 .bytes = 5242880,
	 .count = 5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(big_stack),
	 REACH(.of = {[REACH_INDIRECT] = {2097152, 2}, [REACH_REACHABLE] = {3145728, 3}},
	       HELD(chain_of_sessions)),
	 .end = STACK_END_COMPLETE},
	{.id = 3,
	 .process = &leak,
	 .bytes = 1200,
	 .count = 3,
	 AGES(600 * MS, 4900 * MS),
	 STACK(small_stack),
	 REACH(.of = {[REACH_POSSIBLE] = {400, 1}, [REACH_REACHABLE] = {800, 2}},
	       HELD(chain_of_cache)),
	 .end = STACK_END_COMPLETE},
	{.id = 4,
	 .process = &leak,
	 .bytes = 24,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(cxx_stack),
	 REACH(.of = {[REACH_DEFINITE] = {24, 1}}, .lost = {24, 1}),
	 .end = STACK_END_COMPLETE},
	{.id = 5,
	 .process = &leak,
	 .kind = KIND_MMAP,
	 .bytes = 8192,
	 .count = 2,
	 AGES(1000 * MS, 2000 * MS),
	 STACK(small_stack),
	 .end = STACK_END_COMPLETE},
	{.id = 6, .process = &leak, .bytes = 4, .count = 1, AGES(MS, MS), STACK(odd_stack)},
};
const struct proof_facts proof_still = {
	.method = PROOF_STILL,
	.scanned_bytes = 133120,
	.pictures = 2,
	.processes = 1,
	.of = {{88, 5}, {2097168, 3}, {400, 1}, {3146528, 5}},
};

/* A leak in two worker processes, with its growth rates. A third process has no proof. */
#define WORKER_LOSS(number, of_process, ...)                                                       \
	{                                                                                          \
		.id = (number), .process = (of_process), .bytes = 80, .count = 5,                  \
		AGES(600 * MS, 4900 * MS), STACK(small_stack), .end = STACK_END_COMPLETE,          \
		REACH(.of = {[REACH_DEFINITE] = {80, 5}}, .lost = {80, 5}, __VA_ARGS__)            \
	}
static struct site proved_workers[] = {
	WORKER_LOSS(1, &leak, .lost_per_s = 40, .lost_for_ns = 9000 * MS),
	WORKER_LOSS(2, &worker, .lost_per_s = 4.5, .lost_for_ns = 12000 * MS, .hanging = {9, 1}),
	{.id = 3,
	 .process = &worker,
	 .bytes = 4194304,
	 .count = 4,
	 AGES(600 * MS, 4900 * MS),
	 STACK(big_stack),
	 REACH(.of = {[REACH_REACHABLE] = {4194304, 4}}, HELD(chain_of_cache)),
	 .end = STACK_END_COMPLETE},
	{.id = 4,
	 .process = &other,
	 .bytes = 7,
	 .count = 7,
	 AGES(600 * MS, 4900 * MS),
	 STACK(cxx_stack),
	 .end = STACK_END_COMPLETE},
};
static const struct proof_facts proof_clone = {
	.method = PROOF_CLONE,
	.stopped_ns = 17250000,
	.scanned_bytes = 5ULL << 30,
	.pictures = 2,
	.processes = 4,
	.unproved = 2,
	.of = {{160, 10}, {0, 0}, {0, 0}, {4194304, 4}},
};

/*
 * A proof with a root of each kind, some of them with hostile names. It has more leaking sites than
 * a report lists.
 */
#define ROOT(name, ...) static const struct holder name[] = {{__VA_ARGS__}}
ROOT(hostile_root, .kind = HOLDER_GLOBAL, .addr = 0x669, .path = "/tmp/\x1b/lib\xff.so");
ROOT(nameless_root, .kind = HOLDER_GLOBAL, .addr = 0x7f0000200000, .path = "/tmp/\n/l\"ib.so.1");
ROOT(stack_root, .kind = HOLDER_STACK, .addr = 0x7ffc00000010, .tid = 4712, .code = 0x669,
     .path = "th\x1bread");
ROOT(register_root, .kind = HOLDER_REGISTER, .tid = 4713);
ROOT(kernel_root, .kind = HOLDER_KERNEL);
ROOT(heap_root, .kind = HOLDER_HEAP, .addr = 0x55d0c3a2b2a0, .path = "[heap]");
ROOT(memory_root, .kind = HOLDER_MEMORY, .addr = UINT64_MAX);
ROOT(worded_root, .kind = HOLDER_STACK, .words = "as a recording\x1b says");

#define ROOTED(number, root)                                                                       \
	{                                                                                          \
		.id = (number), .process = &hostile, .bytes = 100 - (number), .count = 1,          \
		AGES(MS, MS), STACK(hostile_stack),                                                \
		REACH(.of = {[REACH_REACHABLE] = {100 - (number), 1}}, HELD(root))                 \
	}
#define NAMELESS_LOSS(number)                                                                      \
	{                                                                                          \
		.id = (number), .process = &hostile, .bytes = 30 - (number), .count = 1,           \
		AGES(MS, MS),                                                                      \
		REACH(.of = {[REACH_DEFINITE] = {30 - (number), 1}}, .lost = {30 - (number), 1})   \
	}
static struct site proved_hostile[] = {
	ROOTED(1, hostile_root),  ROOTED(2, nameless_root), ROOTED(3, stack_root),
	ROOTED(4, register_root), ROOTED(5, kernel_root),   ROOTED(6, heap_root),
	ROOTED(7, memory_root),   ROOTED(8, worded_root),   NAMELESS_LOSS(11),
	NAMELESS_LOSS(12),        NAMELESS_LOSS(13),        NAMELESS_LOSS(14),
	NAMELESS_LOSS(15),        NAMELESS_LOSS(16),        NAMELESS_LOSS(17),
};
static const struct proof_facts proof_freeze = {
	.method = PROOF_FREEZE,
	.stopped_ns = 2140000000,
	.scanned_bytes = 1,
	.pictures = 2,
	.processes = 2,
	.unproved = 1,
	.of = {{112, 7}, {0, 0}, {0, 0}, {764, 8}},
};
static const struct proof_facts proof_ended = {
	.method = PROOF_ENDED,
	.stopped_ns = 3000000,
	.scanned_bytes = 133120,
	.pictures = 1,
	.processes = 1,
	.of = {{88, 5}, {2097168, 3}, {400, 1}, {3146528, 5}},
};
static const struct proof_facts proof_of_none = {.pictures = 2, .processes = 3, .unproved = 3};

/*
 * Heap censuses: of one process; of several processes, with parts missing; of a process without a
 * heap; of a core file; with impossible numbers.
 */
const struct heap_census census_of_one = {
	.processes = 1,
	.classes = {[0] = {{72, 3}, {24, 1}, {2400000, 100000}},
		    [2] = {{0, 0}, {120, 1}, {0, 0}},
		    [5] = {{1032, 1}, {0, 0}, {4096, 4}},
		    [16] = {{0, 0}, {2097136, 1}, {0, 0}}},
	.requested_bytes = 1060,
	.arenas = 1,
	.heap_bytes = 5500000,
	.spare_bytes = 135168,
	.present_bytes = 5390336,
	.memory = {.anonymous = 6000640, .file = 1355776},
};
static const struct heap_census census_of_workers = {
	.processes = 3,
	.without_heap = 1,
	.classes = {[0] = {{24, 1}, {0, 0}, {0, 0}},
		    [HEAP_CLASSES - 1] = {{0, 0}, {2199023255552, 1}, {0, 0}}},
	.requested_bytes = 24,
	.elsewhere = {4096, 1},
	.arenas = 5,
	.skipped_arenas = 1,
	.cut_lists = 2,
	.heap_bytes = 2199023263744,
	.present_bytes = 2199023263744,
	.memory = {4096, 8192, 12288, 2199023263744},
};
static const struct heap_census census_of_none = {
	.processes = 1,
	.without_heap = 1,
	.elsewhere = {3000000, 7},
	.memory = {.anonymous = 4194304},
};
static const struct heap_census census_of_core = {
	.processes = 1,
	.classes = {[1] = {{0, 0}, {560, 10}, {40, 1}}},
	.arenas = 1,
	.heap_bytes = 135168,
	.spare_bytes = 134400,
	.present_bytes = 8192,
};
static const struct heap_census census_of_lies = {
	.processes = UINT64_MAX,
	.without_heap = UINT64_MAX,
	.classes = {[3] = {{UINT64_MAX, UINT64_MAX}, {1, 0}, {UINT64_MAX, 1}}},
	.arenas = UINT64_MAX,
	.heap_bytes = 1,
	.spare_bytes = UINT64_MAX,
	.present_bytes = UINT64_MAX,
	.memory = {UINT64_MAX, 2, UINT64_MAX, UINT64_MAX},
};
static const struct core_facts core_of_leak = {
	.path = "/tmp/core.4711",
	.program = "leak",
	.arguments = "leak -v",
	.pid = 4711,
	.signal = 6,
	.memory_bytes = 1000000,
	.used = {560, 10},
	.free_ = {40, 1},
	.own_bytes = 134400,
};

static const struct core_thread core_threads[] = {
	{.tid = 4711,
	 .pc = 0x55d0c3a01189,
	 .function = "leak_big",
	 .module = "/opt/leak",
	 .file = "src/leak.c",
	 .line = 18},
	{.tid = 4712, .pc = 0x7f3a1c0e5b50, .function = "read", .module = "/lib/libc.so.6"},
	{.tid = 4713, .pc = 0x7ffe9d9f1000, .function = "sys\x1b[2J", .module = "[vdso]"},
	{.tid = 4714, .pc = UINT64_MAX},
};
static const struct core_facts core_with_threads = {
	.path = "/var/crash/core.\x1b[2J",
	.program = "leak",
	.arguments = "leak -v --name \"\xff\"",
	.pid = 4711,
	.signal = 11,
	.threads = core_threads,
	.thread_cnt = LENGTH(core_threads),
	.memory_bytes = 1ULL << 32,
	.missing_bytes = 4096,
	.absent_bytes = 1,
	.used = {5244184, 14},
	.free_ = {40, 1},
	.own_bytes = 134400,
};
static const struct proof_facts proof_of_core = {
	.method = PROOF_CORE,
	.scanned_bytes = 133120,
	.pictures = 1,
	.processes = 1,
	.of = {{88, 5}, {2097168, 3}, {400, 1}, {3146528, 5}},
};

/* Suppression files may hold arbitrary text. */
static const struct suppressed suppressed[] = {
	{"^cache_*$", 4096, 3, 2}, {"never", 0, 0, 0}, {"\"\xff\x1b[2J\\", 1, 1, 1}};

static const struct ended_processes compilers = {
	.named = {{.pid = 500,
		   .comm = (char *)"python3",
		   .bytes = 3 << 20,
		   .count = 2,
		   .killed_by = SIGKILL,
		   .out_of_memory = true},
		  {.pid = 501, .comm = (char *)"cc1plus", .bytes = 193 << 20, .count = 100110},
		  {.pid = 502,
		   .comm = (char *)"x\x1b[2J",
		   .bytes = 30 << 20,
		   .count = 1,
		   .killed_by = SIGSEGV},
		  {.pid = 503, .bytes = 2 << 20, .count = 7, .killed_by = 64}},
	.named_cnt = 4,
	.total = 10,
	.bytes = 231 << 20,
};

/*
 * The cost of tracing in an interval of two seconds. The program used one second of CPU time, and
 * cost_ns of this time were spent on tracing.
 */
#define COST(cost_ns, ...)                                                                         \
	{                                                                                          \
		.elapsed_ns = 2000000000, .calls = 820000, .cpu_ns = 1000000000, .ns = (cost_ns),  \
		.trap_ns = 400000000, __VA_ARGS__                                                  \
	}

const struct scene scenes[] = {
	{.name = "plain", .opts.top = 10, .snap = SNAPSHOT(plain_sites)},
	{.name = "final", .opts.top = 10, .snap = SNAPSHOT(plain_sites), .final = true},
	{.name = "empty", .opts.top = 10, .snap = SNAPSHOT_OF(NULL, 0)},
	{.name = "left-out",
	 .opts.top = 10,
	 .snap = SNAPSHOT(plain_sites, .baseline_ns = 2345678901, .suppressed = suppressed,
			  .suppressed_cnt = LENGTH(suppressed), .reserved = {2199023255552, 3, 2})},
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
	{.name = "recursion", .opts.top = 10, .snap = SNAPSHOT(recursive_sites)},
	{.name = "kinds", .opts.top = 10, .snap = SNAPSHOT(kind_sites)},
	{.name = "pinned",
	 .opts = {.top = 10, .sort = SORT_PINNED},
	 .snap = SNAPSHOT(pinning_sites, .tallies = &pinning_tally, .tally_cnt = 1)},
	{.name = "terminal", .opts.top = 10, .snap = SNAPSHOT(kind_sites), .rows = 24},
	{.name = "terminal-notes",
	 .opts.top = 10,
	 .snap = SNAPSHOT(kernel_sites, .replaced = 3, .gone_with_page = 4, .frees_hidden = true,
			  .lost = {[LOSS_UNWIND] = 3, [LOSS_EXEC] = 2}),
	 .rows = 18},
	{.name = "terminal-deep",
	 .opts = {.top = 10, .all_frames = true},
	 .snap = SNAPSHOT(recursive_sites),
	 .rows = 20},
	{.name = "terminal-small", .opts.top = 10, .snap = SNAPSHOT(kind_sites), .rows = 10},
	{.name = "kernel",
	 .opts.top = 10,
	 .snap = SNAPSHOT(kernel_sites, .replaced = 3, .gone_with_page = 4, .beyond_caches = 5,
			  .frees_hidden = true, .vmalloc_hidden = 24604672,
			  .kernel_memory = {64 << 20, 312 << 20, 12 << 20},
			  .kernel_memory_before = {60 << 20, 300 << 20, 13 << 20},
			  .kernel_growths = kernel_growths,
			  .kernel_growth_cnt = LENGTH(kernel_growths))},
	{.name = "kernel-caches", .opts.top = 10, .snap = CACHE_SNAPSHOT},
	{.name = "kernel-caches-all",
	 .opts = {.top = 2, .all_frames = true},
	 .snap = CACHE_SNAPSHOT},
	{.name = "kernel-caches-top", .opts.top = 3, .snap = CACHE_SNAPSHOT},
	{.name = "kernel-caches-terminal", .opts.top = 10, .snap = CACHE_SNAPSHOT, .rows = 25},
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
	 .snap = SNAPSHOT(plain_sites, .stats = {USER_FIGURES})},
	{.name = "stats-both",
	 .opts = {.top = 1, .stats = true},
	 .snap = SNAPSHOT(plain_sites, .stats = {USER_FIGURES, KERNEL_FIGURES},
			  .lost = {[LOSS_ALLOCS_FULL] = 3})},
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
	{.name = "peak-uncopied",
	 .opts = {.top = 10, .peak = true},
	 .snap = SNAPSHOT_OF(NULL, 0, .peak = &peak_uncopied)},
	{.name = "max-records",
	 .opts = {.top = 10, .largest = true, .by = BY_PROCESS, .max_records = 1},
	 .snap = SNAPSHOT(largest_sites)},
	{.name = "descriptors",
	 .opts.top = 1,
	 .growing = 12,
	 .snap = SNAPSHOT(descriptor_sites, .descriptors = {.are_traced = true,
							    .older = 5,
							    .missed = 2,
							    .closed_unseen = 1,
							    .unread = 1})},
	{.name = "descriptors-by-process",
	 .opts = {.top = 1, .by = BY_PROCESS},
	 .snap = SNAPSHOT(descriptor_sites, .descriptors.are_traced = true)},
	{.name = "descriptors-none",
	 .opts.top = 1,
	 .snap = SNAPSHOT_OF(NULL, 0, .descriptors.are_traced = true)},
	{.name = "suspects", .opts.top = 1, .growing = 12, .snap = SNAPSHOT(plain_sites)},
	{.name = "suspects-more", .opts.top = 1, .growing = 8, .snap = SNAPSHOT(group_sites)},
	{.name = "terminal-suspects",
	 .opts.top = 10,
	 .growing = 8,
	 .snap = SNAPSHOT(group_sites),
	 .rows = 14},
	{.name = "suspects-workers", .opts.top = 1, .growing = 8, .snap = SNAPSHOT(worker_sites)},
	{.name = "suspects-kernel", .opts.top = 1, .growing = 9, .snap = SNAPSHOT(kernel_sites)},
	{.name = "suspects-none",
	 .opts = {.top = 1, .sort = SORT_SCORE},
	 .before = &growth_snapshot,
	 .growing = 4,
	 .snap = SNAPSHOT(growth_sites)},
	{.name = "prove", .opts.top = 10, .snap = SNAPSHOT(proved_sites, .proof = &proof_still)},
	{.name = "prove-processes",
	 .opts.top = 10,
	 .growing = 12,
	 .snap = SNAPSHOT(proved_workers, .proof = &proof_clone)},
	{.name = "prove-hostile",
	 .opts.top = 9,
	 .snap = SNAPSHOT(proved_hostile, .proof = &proof_freeze)},
	{.name = "prove-ended",
	 .opts.top = 1,
	 .snap = SNAPSHOT(proved_sites, .proof = &proof_ended),
	 .final = true},
	{.name = "prove-none",
	 .opts.top = 10,
	 .snap = SNAPSHOT(plain_sites, .proof = &proof_of_none)},
	{.name = "census",
	 .opts.top = 1,
	 .snap = SNAPSHOT(proved_sites, .proof = &proof_still, .census = &census_of_one)},
	{.name = "census-processes",
	 .opts.top = 1,
	 .snap = SNAPSHOT(proved_workers, .proof = &proof_clone, .census = &census_of_workers)},
	{.name = "census-none",
	 .opts.top = 1,
	 .snap = SNAPSHOT(proved_sites, .proof = &proof_still, .census = &census_of_none)},
	{.name = "census-core",
	 .opts.top = 1,
	 .snap = SNAPSHOT(plain_sites, .core = &core_of_leak, .census = &census_of_core)},
	{.name = "core",
	 .opts.top = 10,
	 .snap = SNAPSHOT(proved_sites, .core = &core_with_threads, .proof = &proof_of_core)},
	{.name = "core-of-nothing",
	 .opts.top = 10,
	 .snap = SNAPSHOT_OF(NULL, 0, .core = &core_of_leak)},
	{.name = "census-huge",
	 .opts.top = 1,
	 .snap = SNAPSHOT(proved_sites, .proof = &proof_still, .census = &census_of_lies)},
	{.name = "prove-by-process",
	 .opts = {.top = 10, .by = BY_PROCESS},
	 .snap = SNAPSHOT(proved_workers, .proof = &proof_clone)},
	{.name = "prove-by-module",
	 .opts = {.top = 10, .by = BY_MODULE},
	 .snap = SNAPSHOT(proved_sites, .proof = &proof_still)},
	{.name = "empty-filtered",
	 .opts = {.top = 1, .min_size = 100, .older_given = true, .older_ns = 1},
	 .snap = SNAPSHOT_OF(NULL, 0)},
	{.name = "ended-processes",
	 .opts.top = 1,
	 .snap = SNAPSHOT(plain_sites),
	 .final = true,
	 .ended = &compilers,
	 .watched = {.cnt = 9, .ns = 60000 * MS}},
	{.name = "cost", .opts.top = 1, .snap = SNAPSHOT(plain_sites, .cost = COST(120000000))},
	{.name = "cost-little",
	 .opts.top = 1,
	 .snap = SNAPSHOT(plain_sites, .cost = COST(9000000))},
	{.name = "cost-much",
	 .opts.top = 1,
	 .snap = SNAPSHOT(plain_sites, .cost = COST(850000000))},
	{.name = "cost-stepped",
	 .opts.top = 1,
	 .snap = SNAPSHOT(plain_sites, .sampling = {SAMPLING_BYTES, 524288},
			  .cost = COST(400000000, .is_least = true))},
	{.name = "lost",
	 .opts.top = 1,
	 .snap = SNAPSHOT_OF(frame_sites + 3, 1,
			     .lost = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, UINT64_MAX, 12})},
};

const size_t scene_cnt = LENGTH(scenes);
