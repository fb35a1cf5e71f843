// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the sampling distances drawn for --sample-bytes: compares them with libm and with their
 * theoretical distribution.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/exponential.h"
#include "tests/unit/lib/random.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define TOLERANCE 1e-5L

static const uint64_t means[] = {1, 2, 100, 524288, 1000000007, EXPONENTIAL_MAX_MEAN};

static void compare(uint64_t random, uint64_t mean)
{
	/*
	 * For ratios near 1, use log1p() of the distance from 1: in log(), rounding the ratio would
	 * lose all significant digits.
	 */
	uint64_t bits = random | 1;
	long double rest = (long double)-bits * 0x1p-64L;
	long double exact =
		-(long double)mean * (rest < 0.5L ? log1pl(-rest) : logl(bits * 0x1p-64L));
	uint64_t drawn = exponential_draw(random, mean);
	long double allowed = exact * TOLERANCE + 1e-4L;

	if (drawn < 1 || drawn < exact - allowed || drawn > exact + 1 + allowed)
		fail_msg("%" PRIx64 ", mean %" PRIu64 ": %" PRIu64 ", should be above %Lf", random,
			 mean, drawn, exact);
}

static void agrees_with_libm(void **state)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < LENGTH(means); i++) {
		compare(0, means[i]);
		compare(UINT64_MAX, means[i]);
		for (unsigned int bit = 0; bit < 64; bit++) {
			compare(1ULL << bit, means[i]);
			compare((1ULL << bit) - 1, means[i]);
			compare(-(1ULL << bit), means[i]);
			compare(~(1ULL << bit), means[i]);
		}
		for (unsigned int j = 0; j < 100000; j++) {
			uint64_t random = random_next(&seed);

			compare(random, means[i]);
			compare(random >> (j % 64), means[i]);
			compare(~(random >> (j % 64)), means[i]);
		}
	}
}

/*
 * Checks the relative error of the logarithm (58 fractional bits), before the logarithm is
 * converted to bytes.
 */
static void errors_are_relative(void **state)
{
	uint64_t seed = 2;

	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t part = random_next(&seed) >> (1 + i % 40);
		long double exact = -log1pl(-(long double)part * 0x1p-64L);
		long double got = log_of_rest(part) * 0x1p-58L;

		if (fabsl(got - exact) > exact * TOLERANCE + 0x1p-57L)
			fail_msg("%" PRIx64 ": %Lg, not %Lg", part, got, exact);
	}
}

static void products(void **state)
{
	uint64_t seed = 3;

	assert_true(multiply_high(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
	assert_true(multiply_high(UINT64_MAX, 0) == 0);
	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t a = random_next(&seed) >> i % 64, b = random_next(&seed) >> i / 64 % 64;
		uint64_t exact = (uint64_t)((unsigned __int128)a * b >> 64);

		assert_true(multiply_high(a, b) == exact);
	}
}

/*
 * Drawn distances, rounded up to bytes, have a geometric distribution. Their mean and variance must
 * be within 5 standard errors of those of the distribution.
 */
static void mean_and_variance(void **state)
{
	const double draws = 1000000;

	for (size_t i = 0; i < LENGTH(means); i++) {
		uint64_t seed = 4 + i;
		double hit = -expm1(-1.0 / (double)means[i]);
		double mean = 1 / hit, variance = (1 - hit) / (hit * hit);
		double sum = 0, squares = 0;

		for (unsigned int j = 0; j < draws; j++) {
			double off = (double)exponential_draw(random_next(&seed), means[i]) - mean;

			sum += off;
			squares += off * off;
		}
		assert_true(fabs(sum / draws) < 5 * sqrt(variance / draws));
		/*
		 * The fourth central moment of a geometric distribution is at most (9 + 1 /
		 * variance) times the variance squared. This limits the error of the measured
		 * variance.
		 */
		assert_true(fabs(squares / draws - variance) <
			    5 * variance * sqrt((8 + 1 / variance) / draws));
	}
}

/* All sizes share one countdown of bytes. */
static void sizes_are_sampled_with_their_probability(void **state)
{
	static const uint64_t sizes[] = {0, 1, 16, 17, 100, 1000, 4096, 10000, 100000};
	const uint64_t mean = 4096;
	double made[LENGTH(sizes)] = {0}, met[LENGTH(sizes)] = {0}, twice = 0, pairs = 0;
	__u64 left = 0;
	uint64_t seed = 5;
	bool before = false;

	for (unsigned int i = 0; i < 3000000; i++) {
		size_t which = random_next(&seed) % LENGTH(sizes);
		bool ends;

		if (!left)
			left = exponential_draw(random_next(&seed), mean);
		ends = countdown__ends(&left, sizes[which]);
		made[which]++;
		met[which] += ends;
		if (which == 6 && before)
			twice += ends;
		if (which == 6)
			pairs += before;
		before = ends;
	}
	for (size_t i = 0; i < LENGTH(sizes); i++) {
		double chance = -expm1(-(double)(sizes[i] ? sizes[i] : 1) / (double)mean);

		assert_true(fabs(met[i] - made[i] * chance) <=
			    5 * sqrt(made[i] * chance * (1 - chance)) + 1e-5 * made[i]);
	}
	/* Whether one block was sampled must not change the probability for the next one. */
	assert_true(fabs(twice / pairs - (1 - exp(-1))) < 5 * sqrt(0.24 / pairs));
}

static void sizes_do_not_overflow(void **state)
{
	static const uint64_t huge[] = {1ULL << 46, 1ULL << 63, (1ULL << 63) + 1, UINT64_MAX};

	for (size_t i = 0; i < LENGTH(huge); i++) {
		__u64 left = exponential_draw(0, EXPONENTIAL_MAX_MEAN);

		assert_true(left < 1ULL << 46);
		assert_true(countdown__ends(&left, huge[i]));
		assert_true(left == 0);
	}
	for (uint64_t size = 0; size < 3; size++) {
		__u64 left = 2;

		assert_true(countdown__ends(&left, size) == (size == 2));
		assert_true(left == (size == 2 ? 0 : 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_libm),
		cmocka_unit_test(errors_are_relative),
		cmocka_unit_test(products),
		cmocka_unit_test(mean_and_variance),
		cmocka_unit_test(sizes_are_sampled_with_their_probability),
		cmocka_unit_test(sizes_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
