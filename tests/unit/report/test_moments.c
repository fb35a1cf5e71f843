// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which earlier snapshot times are remembered, and how many of them are before a given time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/moments.h"

static void add(struct moments *moments, uint64_t cnt)
{
	for (uint64_t i = 1; i <= cnt; i++)
		moments_add(moments, 1000 * i);
}

static void few_are_all_kept(void **state)
{
	struct moments moments = {0};

	add(&moments, MOMENTS_MAX - 1);
	assert_int_equal(moments.cnt, MOMENTS_MAX - 1);
	for (size_t i = 0; i < moments.cnt; i++)
		assert_int_equal(moments.ns[i], 1000 * (i + 1));
}

/*
 * The first and the most recent snapshot times are remembered. Between them, gaps get wider towards
 * the past.
 */
static void many_are_thinned(void **state)
{
	struct moments moments = {0};

	add(&moments, 1000);
	assert_int_equal(moments.cnt, MOMENTS_MAX - 1);
	assert_int_equal(moments.ns[0], 1000);
	for (size_t i = 0; i < RECENT_MOMENTS; i++)
		assert_int_equal(moments.ns[moments.cnt - 1 - i], 1000 * (1000 - i));
	for (size_t i = 1; i < moments.cnt; i++)
		assert_true(moments.ns[i - 1] < moments.ns[i]);
	assert_true(moments.ns[2] - moments.ns[1] > 10 * (moments.ns[22] - moments.ns[21]));
}

/* A block allocated at the very time of a snapshot belongs to that snapshot. */
static void births_are_after_moments(void **state)
{
	struct moments moments = {0};

	assert_int_equal(moments_before(&moments, 5), 0);
	add(&moments, 3);
	assert_int_equal(moments_before(&moments, 999), 0);
	assert_int_equal(moments_before(&moments, 1000), 0);
	assert_int_equal(moments_before(&moments, 1001), 1);
	assert_int_equal(moments_before(&moments, 3000), 2);
	assert_int_equal(moments_before(&moments, 4000), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_all_kept),
		cmocka_unit_test(many_are_thinned),
		cmocka_unit_test(births_are_after_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
