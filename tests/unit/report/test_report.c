// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reports: totals, order, the limit on the number of sites, names, and lists of blocks. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "loader/tables/translate.h"
#include "report/trend.h"
#include "tests/unit/lib/fake_symbols.h"

static void order(enum sort_order sort, uint32_t top, const char *expected)
{
	/* Ids are letters, by which tests name sites. growth[i] belongs to sites[i]. */
	struct site sites[] = {
		{.id = 'a', .bytes = 100, .count = 1}, {.id = 'b', .bytes = 50, .count = 7},
		{.id = 'e', .bytes = 50, .count = 2},  {.id = 'd', .bytes = 50, .count = 2},
		{.id = 'c', .bytes = 0, .count = 9},   {.id = 'x', .bytes = 0, .count = 0},
		{.id = 'f', .bytes = 1, .count = 1},
	};
	struct growth growth[] = {{.bytes = -10},
				  {.bytes = 5, .count = 1},
				  {.bytes = 5, .count = 2},
				  {.bytes = 5, .count = 2},
				  {.count = 3},
				  {.bytes = 999, .count = 9},
				  {.bytes = 0}};
	const struct snapshot snap = {.sites = sites, .site_cnt = 7};
	const struct options opts = {.sort = sort, .top = top};
	struct report report;
	char ids[8] = "";

	assert_int_equal(report_init(&opts, &snap, growth, NULL, UINT64_MAX, false, &report), 0);
	for (size_t i = 0; i < report.site_cnt; i++)
		ids[i] = (char)report.sites[i].site->id;
	assert_string_equal(ids, expected);
	assert_int_equal(report.sites_total, 6); /* a site without blocks is not counted */
	assert_int_equal(report.bytes, 251);
	assert_int_equal(report.count, 22);
	for (size_t i = 0; i < report.site_cnt; i++) {
		const struct report_site *shown = &report.sites[i];
		size_t at = (size_t)(shown->site - sites);

		assert_int_equal(shown->growth_bytes, growth[at].bytes);
		assert_int_equal(shown->growth_count, growth[at].count);
	}
	report_deinit(&report);
}

static void orders(void **state)
{
	order(SORT_SIZE, 10, "abdefc");
	order(SORT_COUNT, 10, "cbdeaf");
	order(SORT_GROWTH, 10, "debcfa");
	order(SORT_SIZE, 6, "abdefc");
	order(SORT_SIZE, 1, "a");
	order(SORT_SIZE, UINT32_MAX, "abdefc");
}

static bool can_list_all(struct options opts)
{
	const struct snapshot snap = {0};
	struct report report;
	bool ret;

	assert_int_equal(report_init(&opts, &snap, NULL, NULL, UINT64_MAX, false, &report), 0);
	ret = report.can_list_all;
	report_deinit(&report);
	return ret;
}

/* Listing all suspects (--why) needs a text report that is not on the live screen. */
static void lists_all_suspects(void **state)
{
	assert_true(can_list_all((struct options){.format = FORMAT_TEXT}));
	assert_false(can_list_all((struct options){.format = FORMAT_TEXT, .live = true}));
	assert_false(can_list_all((struct options){.format = FORMAT_JSON}));
}

static void nothing(void **state)
{
	struct fake_symbols fake = fake_symbols_of(NULL, 0);
	const struct snapshot snap = {0};
	const struct options opts = {.top = 10, .show_allocs = true};
	struct report report;

	assert_int_equal(report_init(&opts, &snap, NULL, &fake.backend, UINT64_MAX, true, &report),
			 0);
	assert_int_equal(report.site_cnt, 0);
	assert_int_equal(report.sites_total, 0);
	assert_int_equal(fake.prepare_cnt, 0);
	assert_true(report.final && report.show_allocs);
	report_deinit(&report);
	report_deinit(&report);
}

/* A report with many stacks prepares each once, and looks up frames that they share once. */
static void names_once(void **state)
{
	static const struct sym_frame frame = {.symbol = "leak"};
	static const struct sym_location locations[] = {
		{.addr = 1, .frame_cnt = 1, .frames = &frame},
		{.addr = 2, .frame_cnt = 1, .frames = &frame},
		{.addr = 3, .frame_cnt = 1, .frames = &frame}};
	static const uint64_t stacks[][3] = {{1, 2, 3}, {2, 2, 3}, {1, 2, 3}, {3, 2, 3}};
	struct fake_symbols fake = fake_symbols_of(locations, 3);
	struct growth growth[4] = {{0}};
	struct site sites[4];
	const struct snapshot snap = {.sites = sites, .site_cnt = 4};
	struct options opts = {.top = 4};
	struct report report;

	for (size_t i = 0; i < 4; i++)
		sites[i] = (struct site){
			.id = i, .bytes = 1, .count = 1, .frames = stacks[i], .frame_cnt = 3};
	assert_int_equal(
		report_init(&opts, &snap, growth, &fake.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(fake.prepare_cnt, 1);
	assert_int_equal(fake.prepared_cnt, 4);
	report_deinit(&report);
	opts.no_default_suppressions = true;
	fake.lookup_cnt = 0;
	assert_int_equal(
		report_init(&opts, &snap, growth, &fake.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(fake.lookup_cnt, 3 + 1 + 1 + 1);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 3; j++)
			assert_int_equal(report.sites[i].locations[j]->addr,
					 report.sites[i].site->frames[j]);
	report_deinit(&report);
}

/* Names are looked up only for the sites that the report shows, in a single call. */
static void names(void **state)
{
	static const struct sym_frame frames[] = {{.symbol = "leak"}, {.symbol = "main"}};
	static const struct sym_location locations[] = {
		{.addr = 1, .frame_cnt = 1, .frames = &frames[0]},
		{.addr = 2, .frame_cnt = 1, .frames = &frames[1]},
	};
	static const uint64_t stack[] = {1, 2, 3};
	struct fake_symbols fake = fake_symbols_of(locations, 2);
	struct site sites[] = {
		{.id = 1, .bytes = 1, .count = 1, .frames = stack, .frame_cnt = 3},
		{.id = 2, .bytes = 3, .count = 1, .frames = stack + 1, .frame_cnt = 2},
		{.id = 3, .bytes = 2, .count = 1},
	};
	struct growth growth[3] = {{0}};
	const struct snapshot snap = {.sites = sites, .site_cnt = 3};
	struct options opts = {.top = 2, .no_default_suppressions = true};
	struct report report;

	assert_int_equal(
		report_init(&opts, &snap, growth, &fake.backend, UINT64_MAX, false, &report), 0);
	assert_int_equal(fake.prepare_cnt, 1);
	assert_int_equal(fake.prepared_cnt, 2);
	assert_true(fake.deadline_ns == UINT64_MAX);
	assert_ptr_equal(report.sites[0].locations[0], &locations[1]);
	assert_null(report.sites[0].locations[1]);
	report_deinit(&report);
	opts.top = 3;
	assert_int_equal(
		report_init(&opts, &snap, growth, &fake.backend, UINT64_MAX, false, &report), 0);
	assert_ptr_equal(report.sites[2].locations[0], &locations[0]);
	assert_ptr_equal(report.sites[2].locations[1], &locations[1]);
	assert_null(report.sites[2].locations[2]);
	report_deinit(&report);
}

static void no_memory_for_names(void **state)
{
	static const uint64_t stack[] = {1};
	struct fake_symbols fake = fake_symbols_of(NULL, 0);
	struct site site = {.id = 1, .bytes = 1, .count = 1, .frames = stack, .frame_cnt = 1};
	struct growth growth = {0};
	const struct snapshot snap = {.sites = &site, .site_cnt = 1};
	const struct options opts = {.top = 10};
	struct report report = {.site_cnt = 77};

	fake.prepare_result = -ENOMEM;
	assert_int_equal(
		report_init(&opts, &snap, &growth, &fake.backend, UINT64_MAX, false, &report),
		-ENOMEM);
	assert_int_equal(report.site_cnt, 77);
}

/* Returns the first shown frame of a stack with these functions, innermost first. */
static size_t first_of(const char *const *symbols, size_t cnt)
{
	struct sym_frame frames[8] = {{0}};
	struct sym_location locations[8] = {{0}};
	uint64_t stack[8];
	struct site site = {.id = 1, .bytes = 1, .count = 1, .frames = stack, .frame_cnt = cnt};
	struct growth growth = {0};
	const struct snapshot snap = {.sites = &site, .site_cnt = 1};
	const struct options opts = {.top = 10};
	struct fake_symbols fake = fake_symbols_of(locations, cnt);
	struct report report;
	size_t first;

	for (size_t i = 0; i < cnt; i++) {
		frames[i].symbol = symbols[i];
		stack[i] = 0x1000 + i;
		locations[i] = (struct sym_location){
			.addr = stack[i], .frame_cnt = 1, .frames = &frames[i]};
	}
	assert_int_equal(
		report_init(&opts, &snap, &growth, &fake.backend, UINT64_MAX, false, &report), 0);
	first = report.sites[0].first_frame;
	report_deinit(&report);
	return first;
}

static void allocators_are_no_culprits(void **state)
{
	static const char *const own[] = {
		"malloc",        "calloc",        "realloc",
		"reallocarray",  "aligned_alloc", "posix_memalign",
		"memalign",      "valloc",        "pvalloc",
		"__libc_malloc", "__libc_calloc", "__GI___libc_malloc",
		"je_malloc",     "_rjem_malloc",  "_rjem_je_malloc",
		"mi_malloc",     "tc_malloc",     "operator new(unsigned long)",
		"mmap",          "__mmap",        "operator new[](unsigned long, std::align_val_t)",
		"__rust_alloc",  "__rdl_alloc",   "__rust_alloc_zeroed",
		"mmap64",
	};
	static const char *const others[] = {
		"xmalloc",
		"malloc_wrapper",
		"my_malloc",
		"strdup",
		"main",
		"Pool::operator new(unsigned long)",
		"operator newt",
		"mallocs",
		"malloc_",
		"memalign2",
		"",
		"_malloc",
		"call",
		"alloc",
		"operator new<int>(int)",
		"__my_malloc",
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		const char *const stack[] = {own[i], "malloc", "leak", "main"};

		if (first_of(stack, 4) != 2)
			fail_msg("taken for the culprit: %s", own[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const char *const stack[] = {"malloc", others[i], "malloc", "main"};

		if (first_of(stack, 4) != 1)
			fail_msg("taken for an allocator: %s", others[i]);
	}
}

static void nobody_but_allocators(void **state)
{
	static const char *const only[] = {"malloc", "operator new(unsigned long)"};
	static const char *const unknown[] = {"malloc", NULL, "malloc"};

	assert_int_equal(first_of(only, 2), 0);
	assert_int_equal(first_of(unknown, 3), 1);
	assert_int_equal(first_of(only, 0), 0);
}

static void blocks_of_sites(void **state)
{
	struct site sites[] = {{.id = 3, .bytes = 1, .count = 1},
			       {.id = 2, .bytes = 5, .count = 3},
			       {.id = 9, .bytes = 0, .count = 0},
			       {.id = 1, .bytes = 9, .count = 2},
			       {.id = 4, .bytes = 2, .count = 1}};
	struct block blocks[] = {{.site = 0, .addr = 10}, {.site = 1, .addr = 20},
				 {.site = 1, .addr = 21}, {.site = 1, .addr = 22},
				 {.site = 3, .addr = 40}, {.site = 3, .addr = 41}};
	static const struct {
		uint64_t id;
		size_t cnt;
		uint64_t addr;
	} expected[] = {{1, 2, 40}, {2, 3, 20}, {4, 0, 0}, {3, 1, 10}};
	struct growth growth[5] = {{0}};
	const struct snapshot snap = {
		.sites = sites, .site_cnt = 5, .blocks = blocks, .block_cnt = 6};
	struct options opts = {.top = 10, .show_allocs = true};
	struct report report;

	assert_int_equal(report_init(&opts, &snap, growth, NULL, UINT64_MAX, false, &report), 0);
	for (size_t i = 0; i < 4; i++) {
		const struct report_site *shown = &report.sites[i];

		assert_int_equal(shown->site->id, expected[i].id);
		assert_int_equal(shown->block_cnt, expected[i].cnt);
		if (shown->block_cnt)
			assert_int_equal(shown->blocks[0].addr, expected[i].addr);
	}
	report_deinit(&report);
}

static void kinds_have_names(void **state)
{
	assert_string_equal(kind_name(KIND_HEAP), "heap");
	assert_string_equal(kind_name(KIND_RESERVE), "reserve");
	for (unsigned int i = 0; i < KIND_CNT; i++)
		assert_non_null(kind_name((enum block_kind)i));
	assert_string_equal(kind_name((enum block_kind)99), "unknown");
	for (unsigned int i = 0; i < MEMLEAK_SHAPE_CNT; i++)
		assert_true((family_name(family_from(i)) == NULL) ==
			    (i == MEMLEAK_SHAPE_LIBRARIES || i == MEMLEAK_SHAPE_RETURN ||
			     i == MEMLEAK_SHAPE_RAISE || i == MEMLEAK_SHAPE_CODE ||
			     i == MEMLEAK_SHAPE_HEAP_DESTROY));
	for (unsigned int i = 0; i < TABLE_CNT; i++)
		assert_non_null(table_name(i));
}

/*
 * Two kernel sites that grow steadily: labels of inodes, which are excluded from the suspects, and
 * sockets.
 */
static const uint64_t label_stack[] = {1, 3}, socket_stack[] = {2, 3};
static const struct site kernel_sites[] = {
	{.id = 1,
	 .space = SPACE_KERNEL,
	 .bytes = 48,
	 .count = 1,
	 .origin = {.owner_pid = 7},
	 .frames = label_stack,
	 .frame_cnt = 2},
	{.id = 2,
	 .space = SPACE_KERNEL,
	 .bytes = 1152,
	 .count = 1,
	 .origin = {.owner_pid = 8},
	 .frames = socket_stack,
	 .frame_cnt = 2},
};

/* More than the number of paths of user memory in a report */
#define KERNEL_SITES (2 * REPORT_PATHS_MAX)

static struct report kernel_report(struct site *sites, size_t cnt)
{
	static const struct sym_frame frames[] = {{.symbol = "security_inode_alloc"},
						  {.symbol = "sk_alloc"},
						  {.symbol = "do_syscall_64"}};
	static const struct sym_location locations[] = {
		{.addr = 1, .frame_cnt = 1, .frames = &frames[0]},
		{.addr = 2, .frame_cnt = 1, .frames = &frames[1]},
		{.addr = 3, .frame_cnt = 1, .frames = &frames[2]},
	};
	static struct site_history history = {
		.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 100, .score = {.total = 1}}};
	struct growth growth[KERNEL_SITES];
	static const struct options opts = {.top = 10};
	static struct snapshot snap; /* the report refers to it */
	struct fake_symbols fake = fake_symbols_of(locations, 3);
	struct report ret;

	for (size_t i = 0; i < cnt; i++)
		growth[i] = (struct growth){.history = &history};
	snap = (struct snapshot){.sites = sites, .site_cnt = cnt};
	assert_int_equal(report_init(&opts, &snap, growth, &fake.backend, UINT64_MAX, false, &ret),
			 0);
	return ret;
}

/* A kernel site excluded from the suspects is neither counted nor marked as a suspect. */
static void excluded_sites(void **state)
{
	struct site sites[] = {kernel_sites[0], kernel_sites[1]};
	struct report report = kernel_report(sites, 2);

	assert_int_equal(report.suspect_cnt, 1);
	assert_int_equal(report.suspects_total, 1);
	assert_int_equal(report.excluded_total, 1);
	assert_true(report.suspects_per_s == 100);
	assert_int_equal(report.site_cnt, 2);
	assert_true(report_marks_suspect(&report, &report.sites[0]));
	assert_int_equal(report.sites[1].site->id, 1);
	assert_false(report_marks_suspect(&report, &report.sites[1]));
	report_deinit(&report);
}

/* Labels that may have been freed without an event do not certainly grow. */
static void doubtful_sites(void **state)
{
	struct site sites[] = {kernel_sites[0], kernel_sites[1]};
	struct report report;

	sites[0].origin.unseen_frees = 1;
	report = kernel_report(sites, 2);
	assert_int_equal(report.suspects_total, 1);
	assert_int_equal(report.excluded_total, 0);
	report_deinit(&report);
}

/* Growing reclaimable caches are counted even without suspects. */
static void growing_caches(void **state)
{
	struct site sites[] = {kernel_sites[0]};
	struct report report;

	sites[0].origin.reclaimable = true;
	report = kernel_report(sites, 1);
	assert_int_equal(report.suspects_total, 0);
	assert_int_equal(report.excluded_total, 1);
	report_deinit(&report);
}

/* However many stacks below a system call grow, its suspect has the growth of all of them. */
static void many_kernel_paths(void **state)
{
	struct site sites[KERNEL_SITES];
	struct report report;

	for (size_t i = 0; i < KERNEL_SITES; i++) {
		sites[i] = kernel_sites[1];
		sites[i].id = 1 + i;
	}
	report = kernel_report(sites, KERNEL_SITES);
	assert_int_equal(report.suspect_cnt, 1);
	assert_int_equal(report.suspects_total, KERNEL_SITES);
	assert_int_equal(report.suspects[0].path_cnt, KERNEL_SITES);
	assert_true(report.suspects[0].bytes_per_s == 100 * KERNEL_SITES);
	report_deinit(&report);
}

/*
 * Page tables that have not grown for long may belong to processes that are starting. This holds
 * even if tracing began with these processes, since the kernel was running before.
 */
static void new_page_tables(void **state)
{
	static const struct sym_frame frame = {.symbol = "pte_alloc_one"};
	static const struct sym_location location = {.addr = 1, .frame_cnt = 1, .frames = &frame};
	static const uint64_t stack[] = {1};
	struct fake_symbols fake = fake_symbols_of(&location, 1);
	struct site site = {.id = 1,
			    .space = SPACE_KERNEL,
			    .bytes = 4096,
			    .count = 1,
			    .frames = stack,
			    .frame_cnt = 1};
	struct history_point point = {0};
	const struct history_point *points[] = {&point};
	struct site_history history = {
		.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 100, .score = {.total = 1}},
		.points = points,
		.point_cnt = 1};
	struct growth growth = {.history = &history};
	struct snapshot snap = {.sites = &site, .site_cnt = 1};
	struct options opts = {.top = 10};

	for (uint64_t s = 6; s <= 12; s += 6) {
		struct report report;

		snap.elapsed_ns = s * 1000000000;
		point.elapsed_ns = snap.elapsed_ns;
		history.trend.since_ns = s * 1000000000;
		assert_int_equal(report_init(&opts, &snap, &growth, &fake.backend, UINT64_MAX,
					     false, &report),
				 0);
		assert_int_equal(report.suspect_cnt, s == 12);
		assert_int_equal(report.suspects_total, s == 12);
		assert_int_equal(report.settling != NULL, s == 6);
		assert_int_equal(report_marks_suspect(&report, &report.sites[0]), s == 12);
		report_deinit(&report);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_all_suspects),
		cmocka_unit_test(orders),
		cmocka_unit_test(nothing),
		cmocka_unit_test(names_once),
		cmocka_unit_test(names),
		cmocka_unit_test(no_memory_for_names),
		cmocka_unit_test(allocators_are_no_culprits),
		cmocka_unit_test(nobody_but_allocators),
		cmocka_unit_test(blocks_of_sites),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(excluded_sites),
		cmocka_unit_test(doubtful_sites),
		cmocka_unit_test(growing_caches),
		cmocka_unit_test(many_kernel_paths),
		cmocka_unit_test(new_page_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
