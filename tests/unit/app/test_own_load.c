// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests memleak's own CPU load and its calls per second between two reports, with a fake CPU time.
 */
#include "app/own_load.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "metrics/own_cost.h"

#define SECOND_NS 1000000000ULL

static double cpu_seconds;

void own_cost_read(struct own_cost *cost)
{
	*cost = (struct own_cost){.cpu_seconds = cpu_seconds};
}

static void since_the_previous_report(void **state)
{
	const struct snapshot first = {.elapsed_ns = 5 * SECOND_NS, .calls = 1000};
	const struct snapshot second = {.elapsed_ns = 7 * SECOND_NS, .calls = 1500};
	struct own_load before = {0};
	struct screen_load load;

	cpu_seconds = 40;
	load = own_load_measure(&before, &first);
	assert_true(isnan(load.cpu_percent));
	assert_true(isnan(load.calls_per_s));
	before.at_ns = clock_ns(CLOCK_MONOTONIC) - 10 * SECOND_NS;
	cpu_seconds = 45;
	load = own_load_measure(&before, &second);
	assert_true(load.cpu_percent > 0 && load.cpu_percent <= 50);
	assert_true(load.calls_per_s == 250);
	/* No time has passed and no CPU time was used. */
	load = own_load_measure(&before, &second);
	assert_true(load.cpu_percent == 0);
	assert_true(load.calls_per_s == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(since_the_previous_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
