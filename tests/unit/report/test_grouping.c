// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests sums of sites by process, module and thread, and which modules cannot be blamed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/allocator_frames.h"
#include "report/grouping.h"
#include "report/thread_split.h"
#include "tests/unit/lib/fake_symbols.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void runtimes(void **state)
{
	static const char *const runtime[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/libc-2.31.so",
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/ld-2.31.so",
		"/lib/ld-musl-x86_64.so.1",
		"/usr/lib/libstdc++.so.6.0.30",
		"/lib/libgcc_s.so.1",
		"/usr/lib/x86_64-linux-gnu/libffi.so.8.1.4",
		"libc++.so.1.0",
		"/usr/lib/libc++abi.so.1",
		"/usr/lib/libjemalloc.so.2",
		"/usr/lib/libtcmalloc_minimal.so.4",
		"/usr/lib/libmimalloc.so.2.0",
		"/lib/libpthread-2.31.so",
	};
	static const char *const others[] = {
		"/usr/bin/ld",
		"/usr/bin/leak",
		"/usr/lib/libcrypto.so.3",
		"",
		"/tmp/libc.so.6/x",
		"/usr/lib/libc-client.so.2007e",
		"/opt/libcc.so",
		"[jit]",
		"/usr/lib/libz.so.1",
		"/usr/lib/ldap.so",
		"/usr/bin/libc",
		"/",
	};

	for (size_t i = 0; i < LENGTH(runtime); i++)
		if (!module_is_runtime(runtime[i]))
			fail_msg("to be blamed: %s", runtime[i]);
	for (size_t i = 0; i < LENGTH(others); i++)
		if (module_is_runtime(others[i]))
			fail_msg("not to be blamed: %s", others[i]);
}

#define NAMED(...)                                                                                 \
	.frame_cnt = 1, .frames = (const struct sym_frame[])                                       \
	{                                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct sym_location locations[] = {
	{.addr = 1, .module = "/usr/bin/prog", NAMED(.symbol = "main")},
	{.addr = 2, .module = "/lib/libc.so.6", NAMED(.symbol = "strdup")},
	{.addr = 3, .module = "/usr/lib/libstdc++.so.6", NAMED(.symbol = NULL)},
	{.addr = 4, .module = "/usr/lib/plugin.so", NAMED(.symbol = "operator new(unsigned long)")},
	{.addr = 5, .module = "/usr/lib/plugin.so", NAMED(.symbol = "load")},
	{.addr = 6, .module = "kernel", NAMED(.symbol = "kmalloc_trace")},
	{.addr = 7, .module = "ext4", NAMED(.symbol = "ext4_iget")},
	{.addr = 8, NAMED(.symbol = NULL)},
};

static const char *module_of(enum address_space space, const uint64_t *frames, size_t cnt)
{
	struct fake_symbols fake = fake_symbols_of(locations, LENGTH(locations));
	struct site site = {
		.id = 1, .space = space, .count = 1, .frames = frames, .frame_cnt = cnt};
	const struct snapshot snap = {.sites = &site, .site_cnt = 1};
	struct grouping grouping;
	const char *module;

	assert_int_equal(grouping_init(BY_MODULE, &snap, &fake.backend, &grouping), 0);
	assert_int_equal(grouping.cnt, 1);
	module = grouping.names[0];
	grouping_deinit(&grouping);
	return module ? module : "?";
}

#define MODULE(space, ...)                                                                         \
	module_of(space, (const uint64_t[]){__VA_ARGS__}, LENGTH(((const uint64_t[]){__VA_ARGS__})))

static void modules(void **state)
{
	assert_string_equal(MODULE(SPACE_USER, 1, 5), "/usr/bin/prog");
	assert_string_equal(MODULE(SPACE_USER, 3, 2, 5, 1), "/usr/lib/plugin.so");
	assert_string_equal(MODULE(SPACE_USER, 4, 1), "/usr/bin/prog");
	/* If there is no other module on the stack, the memory belongs to the C library. */
	assert_string_equal(MODULE(SPACE_USER, 2, 3), "/lib/libc.so.6");
	/*
	 * If the first frame outside of the C library has no known module, the next frame's must
	 * not be taken instead.
	 */
	assert_string_equal(MODULE(SPACE_USER, 2, 8, 1), "?");
	assert_string_equal(MODULE(SPACE_USER, 99, 1), "?");
	assert_string_equal(module_of(SPACE_USER, NULL, 0), "?");
	assert_string_equal(MODULE(SPACE_KERNEL, 6, 7, 6), "ext4");
}

/* Sums of sites have no counts by allocation time, even if one of the sites has such counts. */
static void sums(void **state)
{
	static const struct ages births;
	static struct process one = {.pid = 10}, other = {.pid = 9}, same = {.pid = 10};
	struct site sites[] = {
		{.id = 1,
		 .process = &one,
		 .bytes = 5,
		 .count = 1,
		 .bytes_variance = 2,
		 .count_variance = 1,
		 .newest_ns = 3,
		 .births = &births,
		 .oldest_ns = 4},
		{.id = 2,
		 .process = &other,
		 .bytes = 7,
		 .count = 2,
		 .newest_ns = 1,
		 .oldest_ns = 9},
		{.id = 3,
		 .process = &same,
		 .bytes = 6,
		 .count = 3,
		 .bytes_variance = 4,
		 .count_variance = 8,
		 .newest_ns = 2,
		 .oldest_ns = 3},
		{.id = 4, .bytes = 1, .count = 1},
	};
	const struct snapshot snap = {.sites = sites, .site_cnt = 4};
	struct grouping grouping;
	const struct site *sum;

	assert_int_equal(grouping_init(BY_PROCESS, &snap, NULL, &grouping), 0);
	assert_int_equal(grouping.cnt, 3);
	assert_int_equal(grouping.group_of[0], grouping.group_of[2]);
	sum = &grouping.sums[grouping.group_of[0]];
	assert_int_equal(sum->bytes, 11);
	assert_int_equal(sum->count, 4);
	assert_int_equal(sum->bytes_variance, 6);
	assert_int_equal(sum->count_variance, 9);
	assert_int_equal(sum->newest_ns, 2);
	assert_int_equal(sum->oldest_ns, 4);
	assert_int_equal(grouping.sums[grouping.group_of[1]].bytes, 7);
	assert_null(grouping.sums[grouping.group_of[3]].process);
	assert_int_not_equal(grouping.sums[0].id, grouping.sums[1].id);
	grouping_deinit(&grouping);
	site_add_sums(&sites[0], &sites[1]);
	assert_null(sites[0].births);
}

static void no_ages(void **state)
{
	struct site site = {
		.id = 1, .count = 1, .oldest_ns = AGE_UNKNOWN, .newest_ns = AGE_UNKNOWN};
	const struct snapshot snap = {.sites = &site, .site_cnt = 1};
	struct grouping grouping;

	assert_int_equal(grouping_init(BY_PROCESS, &snap, NULL, &grouping), 0);
	assert_true(grouping.sums[0].oldest_ns == AGE_UNKNOWN);
	assert_true(grouping.sums[0].newest_ns == AGE_UNKNOWN);
	grouping_deinit(&grouping);
}

/* Checks that the view's snapshot is unchanged. */
static void check_untouched(const struct snapshot *snap, const struct block *blocks, size_t cnt)
{
	assert_int_equal(snap->site_cnt, 2);
	assert_int_equal(snap->block_cnt, cnt);
	assert_memory_equal(snap->blocks, blocks, cnt * sizeof(*blocks));
}

/* Splits a snapshot by thread, and checks that each sampled block has its weight. */
static void split(enum sampling_mode mode, uint64_t rate)
{
	static const struct block blocks[] = {
		{.site = 0, .addr = 1, .size = 100, .sampled_size = 100, .age_ns = 9, .tid = 7},
		{.site = 1, .addr = 2, .size = 10, .sampled_size = 20, .age_ns = 8, .tid = 7},
		{.site = 1, .addr = 3, .size = 30, .sampled_size = 30, .age_ns = 6, .tid = 5},
		{.site = 1, .addr = 4, .size = 40, .sampled_size = 40, .age_ns = 2, .tid = 7},
	};
	struct snapshot snap = {
		.sites = calloc(2, sizeof(*snap.sites)),
		.site_cnt = 2,
		.blocks = malloc(sizeof(blocks)),
		.block_cnt = LENGTH(blocks),
		.sampling = {mode, rate},
	};
	struct estimate estimate = {0};
	struct snapshot_view view;

	assert_non_null(snap.sites);
	assert_non_null(snap.blocks);
	memcpy(snap.blocks, blocks, sizeof(blocks));
	snap.sites[0].id = 1;
	snap.sites[1].id = 2;
	view = snapshot_view_of(&snap);
	assert_int_equal(thread_split(&view, 0, true), 0);
	check_untouched(&snap, blocks, LENGTH(blocks));
	assert_int_equal(view.snap.site_cnt, 3);
	assert_int_equal(view.snap.sites[0].tid, 7);
	assert_int_equal(view.snap.sites[1].tid, 5);
	assert_int_equal(view.snap.sites[2].tid, 7);
	assert_int_not_equal(view.snap.sites[1].id, view.snap.sites[2].id);
	assert_int_equal(view.snap.sites[2].oldest_ns, 8);
	assert_int_equal(view.snap.sites[2].newest_ns, 2);
	for (size_t i = 0; i < LENGTH(blocks); i++)
		assert_int_equal(view.snap.blocks[i].tid,
				 view.snap.sites[view.snap.blocks[i].site].tid);
	estimate_add(&estimate, &view.snap.sampling, 10, 20);
	estimate_add(&estimate, &view.snap.sampling, 40, 40);
	assert_int_equal(view.snap.sites[2].bytes, estimate_rounded(estimate.bytes));
	assert_int_equal(view.snap.sites[2].count, estimate_rounded(estimate.count));
	assert_true(view.snap.sites[2].bytes_variance == estimate.bytes_variance);
	assert_true(view.snap.sites[2].count_variance == estimate.count_variance);
	snapshot_view_deinit(&view);
	snapshot_deinit(&snap);
}

static void splits(void **state)
{
	const struct snapshot none = {0};
	struct snapshot_view view;

	split(SAMPLING_NONE, 0);
	split(SAMPLING_COUNT, 10);
	split(SAMPLING_BYTES, 64);
	view = snapshot_view_of(&none);
	assert_int_equal(thread_split(&view, 0, false), 0);
	assert_int_equal(view.snap.site_cnt, 0);
	snapshot_view_deinit(&view);
}

#define MSEC UINT64_C(1000000)

/* Only some sites may have counts by allocation time, and the first site may have none. */
static void splits_births(void **state)
{
	static const struct ages births = {.count = {1}};
	static const struct block blocks[] = {{.site = 0, .addr = 1, .size = 1},
					      {.site = 1, .addr = 2, .size = 2}};
	struct snapshot snap = {
		.sites = calloc(2, sizeof(*snap.sites)),
		.site_cnt = 2,
		.blocks = malloc(sizeof(blocks)),
		.block_cnt = LENGTH(blocks),
	};
	struct snapshot_view view;

	assert_non_null(snap.sites);
	assert_non_null(snap.blocks);
	memcpy(snap.blocks, blocks, sizeof(blocks));
	snap.sites[1].births = &births;
	view = snapshot_view_of(&snap);
	assert_int_equal(thread_split(&view, 0, false), 0);
	assert_int_equal(view.snap.site_cnt, 2);
	assert_null(view.snap.sites[0].births);
	assert_non_null(view.snap.sites[1].births);
	assert_int_equal(view.snap.sites[1].births->bytes[0], 2);
	snapshot_view_deinit(&view);
	snapshot_deinit(&snap);
}

/*
 * Each thread gets the ages of its own blocks, and the number of them that the previous snapshot
 * had.
 */
static void splits_ages(void **state)
{
	static const struct ages births = {.count = {2, 1, 1}};
	static const struct block blocks[] = {
		{.site = 0, .addr = 1, .size = 1, .age_ns = 40 * MSEC, .tid = 7},
		{.site = 0, .addr = 2, .size = 2, .age_ns = 30 * MSEC, .tid = 5},
		{.site = 0, .addr = 3, .size = 4, .age_ns = 20 * MSEC, .tid = 7},
		{.site = 0, .addr = 4, .size = 8, .age_ns = 3 * MSEC, .tid = 5},
	};
	struct snapshot snap = {
		.elapsed_ns = 60 * MSEC,
		.sites = calloc(1, sizeof(*snap.sites)),
		.site_cnt = 1,
		.blocks = malloc(sizeof(blocks)),
		.block_cnt = LENGTH(blocks),
	};
	struct snapshot_view view;
	uint32_t kept = 0;

	assert_non_null(snap.sites);
	assert_non_null(snap.blocks);
	memcpy(snap.blocks, blocks, sizeof(blocks));
	for (size_t i = 0; i < LENGTH(blocks); i++)
		ages_add(&snap.sites[0].ages, blocks[i].age_ns, blocks[i].size);
	snap.sites[0].births = &births;
	/*
	 * Two blocks are older than the first of two earlier snapshots; one was allocated between
	 * the two, and one after them.
	 */
	moments_add(&snap.earlier, 30 * MSEC);
	moments_add(&snap.earlier, 50 * MSEC);
	/*
	 * In the previous snapshot, ten milliseconds ago, the third block was too young to be
	 * shown.
	 */
	snap.sites[0].kept[age_class(30 * MSEC)]++;
	snap.sites[0].kept[age_class(20 * MSEC)]++;
	view = snapshot_view_of(&snap);
	assert_int_equal(thread_split(&view, 50 * MSEC, false), 0);
	assert_int_equal(view.snap.site_cnt, 2);
	assert_int_equal(view.snap.sites[0].tid, 5);
	assert_int_equal(view.snap.sites[0].ages.count[age_class(30 * MSEC)], 1);
	assert_int_equal(view.snap.sites[0].ages.bytes[age_class(30 * MSEC)], 2);
	assert_int_equal(view.snap.sites[0].ages.count[age_class(3 * MSEC)], 1);
	assert_int_equal(view.snap.sites[0].kept[age_class(20 * MSEC)], 1);
	assert_int_equal(view.snap.sites[0].births->bytes[0], 2);
	assert_int_equal(view.snap.sites[0].births->bytes[2], 8);
	assert_int_equal(view.snap.sites[1].births->count[1], 1);
	assert_int_equal(view.snap.sites[1].ages.count[age_class(40 * MSEC)], 1);
	assert_int_equal(view.snap.sites[1].ages.bytes[age_class(20 * MSEC)], 4);
	assert_int_equal(view.snap.sites[1].kept[age_class(30 * MSEC)], 1);
	for (size_t i = 0; i < 2 * AGE_CLASS_CNT; i++)
		kept += view.snap.sites[i / AGE_CLASS_CNT].kept[i % AGE_CLASS_CNT];
	assert_int_equal(kept, 2);
	assert_int_equal(view.snap.block_cnt, 0);
	snapshot_view_deinit(&view);
	snapshot_deinit(&snap);
}

static void larger_blocks(void **state)
{
	static const struct block blocks[] = {
		{.addr = 9, .size = 0, .age_ns = 1}, {.addr = 8, .size = 5, .age_ns = 1},
		{.addr = 7, .size = 5, .age_ns = 2}, {.addr = 6, .size = 5, .age_ns = 2},
		{.addr = 1, .size = 4, .age_ns = 9},
	};
	static const uint64_t expected[] = {9, 8, 7, 6, 6};
	struct block largest = {0};

	for (size_t i = 0; i < LENGTH(blocks); i++) {
		block_take_larger(&largest, &blocks[i]);
		assert_int_equal(largest.addr, expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes),      cmocka_unit_test(modules),
		cmocka_unit_test(sums),          cmocka_unit_test(no_ages),
		cmocka_unit_test(splits),        cmocka_unit_test(splits_ages),
		cmocka_unit_test(larger_blocks), cmocka_unit_test(splits_births),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
