// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which sampling steps follow from the cost of tracing. */
#include "loader/tables/sampling_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bpf/exponential.h"

#define KIB 1024ULL
#define MANY 2000

static const double most = 0.03;

static struct sampling_steps steps_from_exact(void)
{
	return sampling_steps_of(most, 0, KIB);
}

static unsigned int after(struct sampling_steps *steps, unsigned int windows, double share)
{
	for (unsigned int i = 0; i < windows; i++)
		sampling_steps_judge(steps, share);
	return steps->step;
}

static void distances(void **state)
{
	struct sampling_steps steps = steps_from_exact();

	assert_int_equal(steps.step, 0);
	assert_int_equal(sampling_steps_distance(&steps, 0), 0);
	assert_int_equal(sampling_steps_distance(&steps, 1), KIB);
	assert_int_equal(sampling_steps_distance(&steps, 8), KIB << 14);
	assert_int_equal(steps.coarsest, 8);
	steps = sampling_steps_of(most, EXPONENTIAL_MAX_MEAN, EXPONENTIAL_MAX_MEAN);
	assert_int_equal(steps.step, 1);
	assert_int_equal(steps.coarsest, 1);
	steps = sampling_steps_of(most, EXPONENTIAL_MAX_MEAN / 5, EXPONENTIAL_MAX_MEAN / 5);
	assert_int_equal(steps.coarsest, 2);
}

/* Each window above the maximum goes up a step; a window between the bounds changes nothing. */
static void up(void **state)
{
	struct sampling_steps steps = steps_from_exact();

	assert_int_equal(after(&steps, 1, 0.5), 1);
	assert_int_equal(after(&steps, 1, 0.031), 2);
	assert_int_equal(after(&steps, MANY, 0.029), 2);
	assert_int_equal(after(&steps, MANY, 0.023), 2);
	assert_int_equal(steps.highest, 2);
}

static void down(void **state)
{
	struct sampling_steps steps = steps_from_exact();

	after(&steps, 3, 0.5);
	assert_int_equal(after(&steps, 4, 0.02), 3);
	assert_int_equal(after(&steps, 1, 0.029), 3);
	assert_int_equal(after(&steps, 4, 0.02), 3);
	assert_int_equal(after(&steps, 1, 0.02), 2);
	assert_int_equal(after(&steps, MANY, 0), 0);
	assert_int_equal(steps.highest, 3);
	steps = sampling_steps_of(most, 4 * KIB, 4 * KIB);
	after(&steps, 2, 0.5);
	assert_int_equal(after(&steps, MANY, 0), 1);
}

/*
 * If step 2 is cheap and step 1 too expensive, step 1 is tried less and less often.
 */
static void no_flapping(void **state)
{
	struct sampling_steps steps = steps_from_exact();
	unsigned int tried = 0;

	after(&steps, 2, 0.5);
	for (unsigned int i = 0; i < MANY; i++) {
		sampling_steps_judge(&steps, steps.step < 2 ? 0.5 : 0.01);
		tried += steps.step < 2;
	}
	assert_in_range(tried, 1, 12);
}

/* A step down that lasts restores the patience. */
static void patience(void **state)
{
	struct sampling_steps steps = steps_from_exact();

	after(&steps, 3, 0.5);
	for (unsigned int i = 0; i < 4; i++) {
		while (after(&steps, 1, 0.01) == 3)
			;
		after(&steps, 1, 0.5);
	}
	assert_int_equal(steps.step, 3);
	assert_int_equal(after(&steps, 79, 0.01), 3);
	assert_int_equal(after(&steps, 1, 0.01), 2);
	assert_int_equal(after(&steps, 81, 0.029), 2);
	assert_int_equal(after(&steps, 5, 0.01), 1);
}

/* A few expensive windows in the coarsest step are no failure. */
static void failure(void **state)
{
	struct sampling_steps steps = steps_from_exact();

	assert_int_equal(after(&steps, 8, 0.5), 8);
	after(&steps, 9, 0.04);
	after(&steps, 1, 0.03);
	after(&steps, 9, 0.04);
	assert_false(steps.is_failed);
	after(&steps, 1, 0.04);
	assert_true(steps.is_failed);
	assert_int_equal(steps.step, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances), cmocka_unit_test(up),
		cmocka_unit_test(down),      cmocka_unit_test(no_flapping),
		cmocka_unit_test(patience),  cmocka_unit_test(failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
