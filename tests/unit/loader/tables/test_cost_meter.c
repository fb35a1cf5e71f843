// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the measured cost of a traced call, and the cost of tracing between two reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/tables/cost_meter.h"

static struct cost_meter meter_of(uint64_t trap_ns)
{
	struct cost_meter meter;

	cost_meter_init(&meter);
	meter.trap_ns = trap_ns;
	return meter;
}

/*
 * The cost of a call is 400 ns in BPF programs plus 1.5 traps: 500 of 1,000 calls also hit a return
 * probe.
 */
static void a_call_costs_traps_and_programs(void **state)
{
	struct cost_meter meter = meter_of(600);

	cost_meter_judge(&meter, &(struct cost_sums){1000, 10, 10},
			 &(struct cost_sums){401000, 1510, 1010});
	assert_float_equal(meter.call_ns, 1300, 1e-9);
}

static void few_calls_are_not_judged(void **state)
{
	struct cost_meter meter = meter_of(600);

	cost_meter_judge(&meter, &(struct cost_sums){0}, &(struct cost_sums){9900, 99, 99});
	assert_float_equal(meter.call_ns, 0, 1e-9);
	cost_meter_judge(&meter, &(struct cost_sums){0}, &(struct cost_sums){9900, 0, 100});
	assert_float_equal(meter.call_ns, 0, 1e-9);
	cost_meter_judge(&meter, &(struct cost_sums){0}, &(struct cost_sums){10000, 100, 100});
	assert_float_equal(meter.call_ns, 700, 1e-9);
}

static void costs_are_of_one_interval(void **state)
{
	struct cost_meter meter = meter_of(600);
	struct tracing_cost cost;

	meter.call_ns = 1000;
	meter.reported = (struct tracing_cost){.calls = 100, .cpu_ns = 5000000, .trap_ns = 60000};
	cost = cost_meter_report(&meter, &(struct tracing_cost){.elapsed_ns = 1000,
								.calls = 300,
								.cpu_ns = 9000000,
								.trap_ns = 180000});
	assert_int_equal(cost.elapsed_ns, 1000);
	assert_int_equal(cost.calls, 200);
	assert_int_equal(cost.cpu_ns, 4000000);
	assert_int_equal(cost.ns, 200000);
	assert_int_equal(cost.trap_ns, 120000);
	cost_meter_reported(&meter);
	cost = cost_meter_report(&meter, &(struct tracing_cost){.elapsed_ns = 3000,
								.calls = 301,
								.cpu_ns = 9000001,
								.trap_ns = 180600});
	assert_int_equal(cost.elapsed_ns, 2000);
	assert_int_equal(cost.calls, 1);
	assert_int_equal(cost.cpu_ns, 1);
}

/*
 * When a process ends, its CPU time is no longer in the sum over all processes. If the sum has
 * fallen, the cost is unknown.
 */
static void less_cpu_time_than_before_is_not_known(void **state)
{
	struct cost_meter meter = meter_of(600);
	struct tracing_cost cost;

	meter.call_ns = 1000;
	meter.reported = (struct tracing_cost){.cpu_ns = 5000000};
	cost = cost_meter_report(&meter,
				 &(struct tracing_cost){.elapsed_ns = 1, .cpu_ns = 4999999});
	assert_int_equal(cost.elapsed_ns, 0);
	meter.reported = (struct tracing_cost){.elapsed_ns = 1};
	cost = cost_meter_report(&meter, &(struct tracing_cost){.elapsed_ns = 2, .cpu_ns = 1});
	assert_int_equal(cost.elapsed_ns, 0);
	meter.reported = (struct tracing_cost){0};
	cost = cost_meter_report(&meter, &(struct tracing_cost){.elapsed_ns = 2, .cpu_ns = 1});
	assert_int_equal(cost.elapsed_ns, 2);
}

static void nothing_is_known_without_times(void **state)
{
	struct cost_meter meter = meter_of(600);

	assert_false(cost_meter_runs(&meter));
	meter.call_ns = 1;
	assert_true(cost_meter_runs(&meter));
	meter.trap_ns = 0;
	assert_false(cost_meter_runs(&meter));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_costs_traps_and_programs),
		cmocka_unit_test(few_calls_are_not_judged),
		cmocka_unit_test(costs_are_of_one_interval),
		cmocka_unit_test(less_cpu_time_than_before_is_not_known),
		cmocka_unit_test(nothing_is_known_without_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
