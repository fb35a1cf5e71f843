/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scenes with huge numbers, blocks, samples, sums and largest blocks. Part of scenes.h. */
#ifndef SCENES_VIEWS_H
#define SCENES_VIEWS_H

static struct site kernel_sites[] = {
	{.id = 1,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak", .cache = "kmalloc-rcl-256",
		.reclaimable = true),
	 .kind = MEMLEAK_KIND_SLAB,
	 .bytes = 4096,
	 .count = 16,
	 AGES(MS, 2000 * MS),
	 STACK(small_stack)},
	{.id = 2,
	 ORIGIN(.last_pid = 12, .last_comm = "a\n(b)", .several_pids = true, .cache = "x\x1b[1m",
		.several_caches = true),
	 .kind = MEMLEAK_KIND_SLAB,
	 .bytes = 2048,
	 .count = 8,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 3,
	 ORIGIN(.interrupt = true),
	 .kind = MEMLEAK_KIND_PAGE,
	 .bytes = 1024,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &leak,
	 ORIGIN(.last_pid = 4711, .last_comm = "leak"),
	 .kind = MEMLEAK_KIND_PERCPU,
	 .bytes = 32,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
};

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

/* Variances: of a little more than whole numbers, of nothing, of more than fits, of nobody knows.
 */
static struct site sampled_sites[] = {
	{.id = 1,
	 .process = &leak,
	 .bytes = 80000,
	 .count = 500,
	 .bytes_variance = 10000.5,
	 .count_variance = 24.5,
	 AGES(600 * MS, 4900 * MS),
	 STACK(small_stack),
	 .end = UNWIND_END_COMPLETE},
	{.id = 2,
	 .process = &leak,
	 .bytes = 5242880,
	 .count = 5,
	 AGES(MS, MS),
	 STACK(big_stack),
	 .end = UNWIND_END_COMPLETE},
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
	 .end = UNWIND_END_COMPLETE},
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
	 .end = UNWIND_END_COMPLETE},
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

/* Some of it and all of it. */
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
static struct site group_sites[] = {
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
	 .kind = MEMLEAK_KIND_SLAB,
	 .bytes = 16,
	 .count = 1,
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 10, .process = &leak, .bytes = 8, .count = 1, AGES(MS, MS), STACK(cxx_stack)},
	{.id = 11, .process = &leak, .bytes = 4, .count = 1, AGES(MS, MS)},
	{.id = 12, .process = &leak, .bytes = 0, .count = 0, AGES(MS, MS)},
	{.id = 13, .process = &leak, .bytes = 2, .count = 1, AGES(MS, MS), STACK(allocator_stack)},
};

static struct site thread_sites[] = {BIG, SMALL};
static struct block thread_blocks[] = {
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
	 .kind = MEMLEAK_KIND_RESERVE,
	 .bytes = 1ULL << 40,
	 .count = 1,
	 LARGEST(.addr = 0x30, .size = 1ULL << 40),
	 AGES(MS, MS),
	 STACK(small_stack)},
	{.id = 4,
	 .process = &hostile,
	 .kind = MEMLEAK_KIND_MMAP,
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
	 .end = UNWIND_END_COMPLETE},
	{.id = 2,
	 .process = &hostile,
	 .kind = MEMLEAK_KIND_MMAP,
	 .bytes = 4096,
	 .count = 1,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 STACK(hostile_stack),
	 .end = UNWIND_END_NO_CODE},
	{.id = 3,
	 .process = &leak,
	 .bytes = 2000,
	 .count = 2,
	 AGES(AGE_UNKNOWN, AGE_UNKNOWN),
	 .end = UNWIND_END_UNKNOWN},
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
static const struct peak no_peak = {.highest_bytes = 16};

#define USER_FIGURES                                                                               \
	{                                                                                          \
		.known = true, .calls = 1234, .failed = 2, .walked = 3, .recalled = 4,             \
		.checked = 5, .disagreed = 6, .stored = 7,                                         \
		.calls_of = {[MEMLEAK_SHAPE_SIZE] = 1000,                                          \
			     [MEMLEAK_SHAPE_FREE] = 230,                                           \
			     [MEMLEAK_SHAPE_MREMAP] = 4},                                          \
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
	 {[MEMLEAK_SHAPE_SIZE] = 10, [MEMLEAK_SHAPE_FREE] = 5}},
	{&hostile, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, {0}},
};

/* What a user writes into a file may be anything. */
static const struct suppressed suppressed[] = {
	{"^cache_*$", 4096, 3, 2}, {"never", 0, 0, 0}, {"\"\xff\x1b[2J\\", 1, 1, 1}};

#endif
