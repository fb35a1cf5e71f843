// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which totals reach the amounts of --at-bytes and --at-growth. */
#include "app/threshold.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL
#define HOUR_NS (3600 * SECOND_NS)

static const struct options by_size = {.at_bytes = 100};
static const struct options by_growth = {.at_growth = {60, 60 * SECOND_NS}};
static const struct options by_either = {.at_bytes = 1000, .at_growth = {60, 60 * SECOND_NS}};

static bool reaches(struct threshold *threshold, uint64_t bytes, uint64_t second)
{
	threshold_add(threshold, bytes, second * SECOND_NS);
	return threshold->is_reached;
}

static void without_options(void **state)
{
	const struct options none = {0};
	struct threshold threshold = threshold_of(&none);

	assert_false(threshold.waits);
	assert_false(reaches(&threshold, UINT64_MAX, 1));
}

static void size(void **state)
{
	struct threshold threshold = threshold_of(&by_size);

	assert_true(threshold.waits);
	assert_false(reaches(&threshold, 99, 1));
	assert_true(reaches(&threshold, 100, 2));
	assert_false(reaches(&threshold, 98, 3));
	assert_int_equal(threshold.most_bytes, 100);
	assert_true(reaches(&threshold, 101, 4));
	threshold_open(&threshold);
	assert_false(threshold.waits);
}

static void at_the_end(void **state)
{
	struct threshold threshold = threshold_of(&by_size);

	assert_true(reaches(&threshold, 101, 1));
	threshold_end(&threshold);
	assert_false(threshold.waits);
	threshold = threshold_of(&by_size);
	assert_false(reaches(&threshold, 1, 1));
	threshold_end(&threshold);
	assert_true(threshold.waits);
}

/* The first total is compared with nothing, the total when tracing begins. */
static void growth_since_the_start(void **state)
{
	struct threshold threshold = threshold_of(&by_growth);

	assert_false(reaches(&threshold, 59, 1));
	assert_true(reaches(&threshold, 60, 2));
}

/* A second adds 1 byte less than a sixtieth of the amount: it is never reached. */
static void slow_growth(void **state)
{
	const struct options opts = {.at_growth = {6000, 60 * SECOND_NS}};
	struct threshold threshold = threshold_of(&opts);

	for (uint64_t second = 1; second < 3600; second++)
		assert_false(reaches(&threshold, 99 * second, second));
	assert_false(reaches(&threshold, 99 * 3599 + 99, 3600));
	assert_true(reaches(&threshold, 99 * 3600 + 161, 3601));
}

static void fast_growth(void **state)
{
	struct threshold threshold = threshold_of(&by_growth);

	for (uint64_t second = 1; second < 60; second++)
		assert_false(reaches(&threshold, second, second));
	assert_true(reaches(&threshold, 60, 60));
}

/* Totals that go up and down by less than the amount */
static void waves(void **state)
{
	struct threshold threshold = threshold_of(&by_growth);

	for (uint64_t second = 1; second < 1000; second++)
		assert_false(reaches(&threshold, second % 2 ? 59 : 1, second));
	assert_true(reaches(&threshold, 59 + 60, 1001));
}

/* With totals every 5 minutes, the growth is averaged. */
static void long_intervals(void **state)
{
	struct threshold threshold = threshold_of(&by_growth);

	assert_false(reaches(&threshold, 299, 300));
	assert_false(reaches(&threshold, 598, 600));
	assert_true(reaches(&threshold, 898, 900));
}

/*
 * With totals every second, not all of an hour are remembered. The oldest may be 1/62 of an hour
 * too old, and the growth is averaged over its age.
 */
static void short_intervals(void **state)
{
	const struct options opts = {.at_growth = {60, HOUR_NS}};
	struct threshold threshold = threshold_of(&opts);

	for (uint64_t i = 1; i < 20000; i++) {
		threshold_add(&threshold, 50, i * SECOND_NS);
		assert_false(threshold.is_reached);
		assert_in_range(threshold.cnt, 1, THRESHOLD_TOTALS);
	}
	assert_in_range(threshold.cnt, THRESHOLD_TOTALS - 4, THRESHOLD_TOTALS);
	assert_false(reaches(&threshold, 109, 20000));
	assert_true(reaches(&threshold, 111, 20001));
}

static void either(void **state)
{
	struct threshold threshold = threshold_of(&by_either);

	assert_false(reaches(&threshold, 59, 1));
	assert_true(reaches(&threshold, 61, 2));
	threshold = threshold_of(&by_either);
	assert_false(reaches(&threshold, 900, 3600));
	assert_true(reaches(&threshold, 1000, 7200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options), cmocka_unit_test(size),
		cmocka_unit_test(at_the_end),      cmocka_unit_test(growth_since_the_start),
		cmocka_unit_test(slow_growth),     cmocka_unit_test(fast_growth),
		cmocka_unit_test(waves),           cmocka_unit_test(long_intervals),
		cmocka_unit_test(short_intervals), cmocka_unit_test(either),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
