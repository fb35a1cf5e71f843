// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests estimates from sampled blocks: the formulas, and their accuracy over many samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bpf/exponential.h"
#include "report/estimate.h"
#include "tests/unit/lib/random.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct sampling by_bytes = {SAMPLING_BYTES, 1000};
static const struct sampling by_count = {SAMPLING_COUNT, 10};

static void expect_near(double got, double wanted)
{
	if (!(fabs(got - wanted) <= fabs(wanted) * 1e-12))
		fail_msg("%.17g, not %.17g", got, wanted);
}

static void one_block_by_bytes(void **state)
{
	struct estimate sum = {0};

	estimate_add(&sum, &by_bytes, 1000, 1000);
	expect_near(sum.bytes, 1000 / (1 - exp(-1)));
	expect_near(sum.count, 1 / (1 - exp(-1)));
	expect_near(sum.count_variance, exp(-1) / pow(1 - exp(-1), 2));
	expect_near(sum.bytes_variance, 1e6 * exp(-1) / pow(1 - exp(-1), 2));
}

/*
 * Blocks that were sampled at several rates: the one sampled at a fourth of the rate has the same
 * weight as with SAMPLING_BYTES and that rate. Blocks of the time before sampling have no error.
 */
static void blocks_by_steps(void **state)
{
	static const struct sampling steps = {SAMPLING_STEPS, 4000};
	struct estimate sum = {0}, wanted = {0};

	estimate_add(&sum, &steps, 100, sampled_size_of_step(100, 4));
	estimate_add(&wanted, &by_bytes, 100, 100);
	expect_near(sum.bytes, wanted.bytes);
	expect_near(sum.count, wanted.count);
	expect_near(sum.bytes_variance, wanted.bytes_variance);
	expect_near(sum.count_variance, wanted.count_variance);
	sum = wanted = (struct estimate){0};
	estimate_add(&sum, &steps, 0, sampled_size_of_step(0, 4));
	estimate_add(&wanted, &by_bytes, 0, 0);
	expect_near(sum.count, wanted.count);
	sum = (struct estimate){0};
	estimate_add(&sum, &steps, 100, SAMPLED_FOR_CERTAIN);
	expect_near(sum.bytes, 100);
	expect_near(sum.count, 1);
	assert_true(sum.bytes_variance == 0 && sum.count_variance == 0);
	assert_true(sampled_size_of_step(1ULL << 63, 4) == SAMPLED_FOR_CERTAIN);
}

static void one_block_by_count(void **state)
{
	struct estimate sum = {0};

	estimate_add(&sum, &by_count, 7, 7);
	expect_near(sum.bytes, 70);
	expect_near(sum.count, 10);
	expect_near(sum.count_variance, 90);
	expect_near(sum.bytes_variance, 49 * 90);
}

static void all_is_looked_at(void **state)
{
	static const struct sampling none = {0};
	struct estimate sum = {0};

	estimate_add(&sum, &none, 7, 7);
	estimate_add(&sum, &none, 0, 0);
	expect_near(sum.bytes, 7);
	expect_near(sum.count, 2);
	assert_true(sum.bytes_variance == 0 && sum.count_variance == 0);
}

/*
 * A sampled block that is much smaller than the sampling rate stands for rate / size blocks. The
 * estimate must not lose precision.
 */
static void small_blocks(void **state)
{
	const struct sampling sampling = {SAMPLING_BYTES, EXPONENTIAL_MAX_MEAN};
	struct estimate small = {0}, empty = {0};

	estimate_add(&small, &sampling, 16, 16);
	assert_true(fabs(small.bytes / EXPONENTIAL_MAX_MEAN - 1) < 1e-10);
	assert_true(fabs(small.count * 16 / EXPONENTIAL_MAX_MEAN - 1) < 1e-10);
	estimate_add(&empty, &sampling, 0, 0);
	assert_true(empty.bytes == 0 && empty.bytes_variance == 0);
	assert_true(fabs(empty.count / EXPONENTIAL_MAX_MEAN - 1) < 1e-10);
}

/* A sampled block much larger than the sampling rate stands only for itself. */
static void large_blocks(void **state)
{
	struct estimate sum = {0};

	estimate_add(&sum, &by_bytes, 1ULL << 63, 1ULL << 63);
	estimate_add(&sum, &by_bytes, 1ULL << 62, 1ULL << 62);
	assert_true(sum.bytes == 0x1.8p63 && sum.count == 2);
	assert_true(sum.bytes_variance == 0 && sum.count_variance == 0);
}

/* Pieces of a sampled block have its weight. */
static void pieces(void **state)
{
	struct estimate whole = {0}, parts = {0}, rest = {0}, grown = {0};

	estimate_add(&whole, &by_bytes, 1000, 1000);
	estimate_add(&parts, &by_bytes, 300, 1000);
	estimate_add(&parts, &by_bytes, 700, 1000);
	expect_near(parts.bytes, whole.bytes);
	expect_near(parts.bytes_variance, whole.bytes_variance);
	estimate_add(&rest, &by_bytes, 250, 1000);
	expect_near(rest.bytes, whole.bytes / 4);
	assert_true(rest.bytes_variance >= whole.bytes_variance / 16);
	estimate_add(&grown, &by_bytes, 2000, 1000);
	expect_near(grown.bytes, whole.bytes * 2);
	expect_near(grown.bytes_variance, whole.bytes_variance * 4);
}

static void sums_without_sizes(void **state)
{
	static const struct sampling none = {0};
	struct estimate sampled = {0}, exact = {0}, joined = {0};

	estimate_add_sizeless(&sampled, &by_count, 5);
	expect_near(sampled.count, 50);
	expect_near(sampled.count_variance, 450);
	assert_true(isnan(sampled.bytes_variance));
	estimate_add_sizeless(&exact, &none, 5);
	assert_true(exact.count == 5 && exact.count_variance == 0 && exact.bytes_variance == 0);
	estimate_add(&joined, &by_count, 7, 7);
	estimate_join(&joined, &sampled);
	expect_near(joined.count_variance, 540);
	assert_true(isnan(joined.bytes_variance));
}

static void whole_numbers(void **state)
{
	assert_true(estimate_rounded(0) == 0);
	assert_true(estimate_rounded(2.5) == 3);
	assert_true(estimate_rounded(2.4) == 2);
	assert_true(estimate_rounded(-1) == 0);
	assert_true(estimate_rounded(NAN) == 0);
	assert_true(estimate_rounded(0x1.fffffffffffffp63) == 0xfffffffffffff800);
	assert_true(estimate_rounded(0x1p64) == UINT64_MAX);
	assert_true(estimate_rounded(INFINITY) == UINT64_MAX);
	assert_true(estimate_error(0) == 0);
	assert_true(estimate_error(100) == 10);
	assert_true(estimate_error(100.1) == 11);
	assert_true(estimate_error(1e-9) == 1);
	assert_true(estimate_error(1e300) == UINT64_MAX);
}

/* Sums over all runs of an experiment. */
struct runs {
	double off;      /* sum of the errors of the estimates */
	double squares;  /* sum of the squares of the errors */
	double variance; /* sum of the estimated variances */
};

static void add_run(struct runs *runs, double got, double exact, double variance)
{
	runs->off += got - exact;
	runs->squares += (got - exact) * (got - exact);
	runs->variance += variance;
}

/*
 * Checks that estimates are right on average, and that their variance is estimated correctly. With
 * cnt runs, the variance of the results is within a few percent of the true variance.
 */
static void judge(const struct runs *runs, double cnt)
{
	double variance = runs->squares / cnt;

	assert_true(fabs(runs->off / cnt) < 4 * sqrt(variance / cnt));
	assert_true(fabs(runs->variance / cnt / variance - 1) < 0.15);
}

/* Samples the same blocks repeatedly, like the BPF programs do. */
static void experiment(const struct sampling *sampling)
{
	static const uint64_t sizes[] = {0, 1, 16, 32, 100, 500, 1000, 1024, 5000, 100000};
	const unsigned int cnt = 4000, blocks = 1000;
	struct runs bytes = {0}, count = {0};
	__u64 left = 0;
	uint64_t seed = 6;

	for (unsigned int run = 0; run < cnt; run++) {
		struct estimate sum = {0};
		double exact = 0;

		for (unsigned int i = 0; i < blocks; i++) {
			uint64_t size = sizes[i % LENGTH(sizes)];
			bool taken;

			if (!left)
				left = exponential_draw(random_next(&seed), sampling->rate);
			if (sampling->mode == SAMPLING_BYTES)
				taken = countdown__ends(&left, size);
			else
				taken = random_next(&seed) % sampling->rate == 0;
			exact += (double)size;
			if (taken)
				estimate_add(&sum, sampling, size, size);
		}
		add_run(&bytes, sum.bytes, exact, sum.bytes_variance);
		add_run(&count, sum.count, blocks, sum.count_variance);
	}
	judge(&bytes, cnt);
	judge(&count, cnt);
}

static void unbiased_by_bytes(void **state)
{
	experiment(&by_bytes);
}

static void unbiased_by_count(void **state)
{
	experiment(&by_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_by_bytes),
		cmocka_unit_test(one_block_by_count),
		cmocka_unit_test(blocks_by_steps),
		cmocka_unit_test(all_is_looked_at),
		cmocka_unit_test(small_blocks),
		cmocka_unit_test(large_blocks),
		cmocka_unit_test(pieces),
		cmocka_unit_test(sums_without_sizes),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(unbiased_by_bytes),
		cmocka_unit_test(unbiased_by_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
