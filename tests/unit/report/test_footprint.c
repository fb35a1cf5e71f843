// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests growth of a process that traced blocks do not explain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/footprint.h"

#define REPORTS 14
#define MIB (1ULL << 20)

static const struct options no_filters = {.max_size = UINT64_MAX};

/* Growth per second of each part of a process's memory, and of traced blocks. */
struct story {
	struct footprint each;
	uint64_t traced_each;
	enum block_kind kind;
};

/*
 * Takes a snapshot each second for REPORTS seconds, and a report of every second snapshot. Returns
 * the growth at the last snapshot.
 */
static struct untraced_growths after(const struct options *opts, const struct story *story)
{
	struct process process = {.image = 7, .pid = 70};
	struct untraced_growths growths = {0};
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	for (uint64_t second = 1; second <= REPORTS; second++) {
		struct site site = {.kind = story->kind, .process = &process};
		struct process_tally tally = {.process = &process, .footprint.is_known = true};
		struct snapshot snap = {.elapsed_ns = second * 1000000000,
					.sites = &site,
					.site_cnt = 1,
					.tallies = &tally,
					.tally_cnt = 1};

		site.bytes = MIB + second * story->traced_each;
		for (size_t i = 0; i < FOOTPRINT_CNT; i++)
			tally.footprint.parts[i] = 10 * MIB + second * story->each.parts[i];
		untraced_growths_deinit(&growths);
		assert_int_equal(
			untraced_growths_init(opts, &snap, second % 2 == 0, ranking, &growths), 0);
	}
	ranking__free(ranking);
	return growths;
}

static void assert_grows(const struct options *opts, const struct story *story,
			 enum footprint_part part, double per_s)
{
	struct untraced_growths growths = after(opts, story);

	assert_int_equal(growths.cnt, 1);
	assert_int_equal(growths.items[0].part, part);
	assert_true(growths.items[0].per_s == per_s);
	assert_int_equal(growths.items[0].since_ns, (REPORTS - 1) * 1000000000ULL);
	untraced_growths_deinit(&growths);
}

static void assert_nothing(const struct options *opts, const struct story *story)
{
	struct untraced_growths growths = after(opts, story);

	assert_int_equal(growths.cnt, 0);
	untraced_growths_deinit(&growths);
}

static void anonymous_memory(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB, .traced_each = MIB / 4};
	const struct options filtered = {.min_size = 100, .max_size = UINT64_MAX};

	assert_grows(&no_filters, &story, FOOTPRINT_ANONYMOUS, MIB);
	story.traced_each = MIB / 2 + MIB / 8;
	assert_nothing(&no_filters, &story);
	story.kind = KIND_RESERVE;
	assert_grows(&no_filters, &story, FOOTPRINT_ANONYMOUS, MIB);
	assert_nothing(&filtered, &story);
}

/*
 * Growth that traced blocks explain is remembered: it prevents an all-clear even if no site is
 * suspected.
 */
static void explained(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_ANONYMOUS] = MIB, .traced_each = MIB};
	struct untraced_growths growths = after(&no_filters, &story);

	assert_int_equal(growths.cnt, 0);
	assert_non_null(growths.explained.process);
	assert_true(growths.explained.per_s == MIB);
	untraced_growths_deinit(&growths);
	story.each.parts[FOOTPRINT_ANONYMOUS] = 0;
	growths = after(&no_filters, &story);
	assert_null(growths.explained.process);
	untraced_growths_deinit(&growths);
}

/*
 * Growth of shared memory and files counts only if address space grows as well; first use of memory
 * that was already mapped does not count. Traced blocks do not explain such growth, as they are
 * never shared memory or files.
 */
static void shared_memory(void **state)
{
	static const enum footprint_part parts[] = {FOOTPRINT_SHARED, FOOTPRINT_FILES};

	for (size_t i = 0; i < 2; i++) {
		struct story story = {.traced_each = 4 * MIB};

		story.each.parts[parts[i]] = MIB;
		assert_nothing(&no_filters, &story);
		story.each.parts[FOOTPRINT_VIRTUAL] = MIB;
		assert_grows(&no_filters, &story, parts[i], MIB);
	}
}

static void huge_pages(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_HUGE] = 2 * MIB, .traced_each = 2 * MIB};

	assert_grows(&no_filters, &story, FOOTPRINT_HUGE, 2 * MIB);
	story.kind = KIND_MMAP;
	assert_nothing(&no_filters, &story);
}

static void pieces(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_DESCRIPTORS] = 3, .traced_each = 4 * MIB};

	assert_grows(&no_filters, &story, FOOTPRINT_DESCRIPTORS, 3);
	story.each.parts[FOOTPRINT_DESCRIPTORS] = 0;
	story.each.parts[FOOTPRINT_THREADS] = 1;
	assert_grows(&no_filters, &story, FOOTPRINT_THREADS, 1);
	story.each.parts[FOOTPRINT_THREADS] = 0;
	story.each.parts[FOOTPRINT_CHILDREN] = 1;
	assert_grows(&no_filters, &story, FOOTPRINT_CHILDREN, 1);
}

/* With --fds, blocks are descriptors, and only descriptors are judged. */
static void traced_descriptors(void **state)
{
	const struct options fds = {.fds = true, .max_size = UINT64_MAX};
	struct story story = {
		.each.parts = {[FOOTPRINT_ANONYMOUS] = MIB, [FOOTPRINT_DESCRIPTORS] = 3},
		.traced_each = 3,
		.kind = KIND_DESCRIPTOR,
	};

	assert_nothing(&fds, &story);
	story.traced_each = 1;
	assert_grows(&fds, &story, FOOTPRINT_DESCRIPTORS, 3);
}

/* Address space alone is not memory, and a few pages are too little to report. */
static void trifles(void **state)
{
	struct story story = {.each.parts[FOOTPRINT_VIRTUAL] = 64 * MIB};

	assert_nothing(&no_filters, &story);
	story.each.parts[FOOTPRINT_ANONYMOUS] = 4096;
	assert_nothing(&no_filters, &story);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anonymous_memory), cmocka_unit_test(explained),
		cmocka_unit_test(shared_memory),    cmocka_unit_test(huge_pages),
		cmocka_unit_test(pieces),           cmocka_unit_test(traced_descriptors),
		cmocka_unit_test(trifles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
