// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the peak and the growth of the total over several reports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/totals.h"

#define SECOND 1000000000ULL

static void peak_and_growth(void **state)
{
	struct totals totals = {0};

	assert_true(isnan(totals_per_s(&totals)));
	totals_add(&totals, 100, 5 * SECOND);
	assert_true(isnan(totals_per_s(&totals)));
	totals_add(&totals, 900, 6 * SECOND);
	totals_add(&totals, 300, 9 * SECOND);
	assert_int_equal(totals.peak_bytes, 900);
	assert_true(totals_per_s(&totals) == 50);
	totals_add(&totals, 0, 10 * SECOND);
	assert_true(totals_per_s(&totals) == -20);
}

/* The peak stays known after its total was dropped from the list. */
static void many(void **state)
{
	struct totals totals = {0};

	totals_add(&totals, 1000000, 0);
	for (uint64_t i = 1; i <= 2 * TOTALS_MOST; i++)
		totals_add(&totals, 10 * i, i * SECOND);
	assert_int_equal(totals.cnt, TOTALS_MOST);
	assert_int_equal(totals.bytes[0], 10 * (TOTALS_MOST + 1));
	assert_int_equal(totals.peak_bytes, 1000000);
	assert_true(totals_per_s(&totals) == 10);
}

static void baseline(void **state)
{
	struct totals totals = {0};

	totals_add(&totals, 5000, SECOND);
	totals_set_baseline(&totals, 2 * SECOND);
	totals_add(&totals, 10, 3 * SECOND);
	assert_true(isnan(totals_per_s(&totals)));
	totals_add(&totals, 30, 4 * SECOND);
	assert_int_equal(totals.cnt, 3);
	assert_int_equal(totals.peak_bytes, 30);
	assert_true(totals_per_s(&totals) == 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_and_growth),
		cmocka_unit_test(many),
		cmocka_unit_test(baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
