// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how the share of CPU time spent on tracing is computed, and when it is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/tracing_cost.h"

#define MSEC UINT64_C(1000000)

static const struct tracing_cost usual = {.elapsed_ns = 2000 * MSEC,
					  .calls = 1000,
					  .cpu_ns = 1000 * MSEC,
					  .ns = 750 * MSEC,
					  .trap_ns = 250 * MSEC};

static void shares_are_of_cpu_time(void **state)
{
	assert_true(tracing_cost_is_known(&usual));
	assert_float_equal(tracing_cost_share(&usual), 0.75, 1e-9);
	assert_float_equal(tracing_cost_calls_per_s(&usual), 500, 1e-9);
}

/* 750 ms of CPU time in 2 s; probes do not take more than the processes used. */
static void processor_share(void **state)
{
	struct tracing_cost cost = usual;

	assert_float_equal(tracing_cost_processors(&cost), 0.375, 1e-9);
	cost.ns = 2 * cost.cpu_ns;
	assert_float_equal(tracing_cost_processors(&cost), 0.495, 1e-9);
}

/*
 * Sampling can at best leave only the cost of traps: here 250 ms of traps and 250 ms of the
 * program's own work.
 */
static void sampling_leaves_traps(void **state)
{
	struct tracing_cost cost = usual;

	assert_float_equal(tracing_cost_least_share(&cost, 0), 0.5, 1e-9);
	cost.trap_ns = 2 * cost.ns;
	assert_float_equal(tracing_cost_least_share(&cost, 0), 0.75, 1e-9);
}

static void too_little_says_nothing(void **state)
{
	struct tracing_cost cost = usual;

	cost.elapsed_ns = 0;
	assert_false(tracing_cost_is_known(&cost));
	cost = usual;
	cost.ns = MSEC;
	cost.cpu_ns = 49 * MSEC;
	assert_false(tracing_cost_is_known(&cost));
	cost.cpu_ns = 50 * MSEC;
	assert_true(tracing_cost_is_known(&cost));
}

static void nothing_takes_all(void **state)
{
	struct tracing_cost cost = usual;

	cost.ns = 2 * cost.cpu_ns;
	cost.trap_ns = cost.cpu_ns / 100;
	assert_float_equal(tracing_cost_share(&cost), 0.99, 1e-9);
	assert_float_equal(tracing_cost_least_share(&cost, 0), 0.5, 1e-9);
	cost.trap_ns = UINT64_MAX;
	assert_float_equal(tracing_cost_least_share(&cost, 0), 0.99, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_of_cpu_time), cmocka_unit_test(processor_share),
		cmocka_unit_test(sampling_leaves_traps),  cmocka_unit_test(too_little_says_nothing),
		cmocka_unit_test(nothing_takes_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
