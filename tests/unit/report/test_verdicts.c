// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures how often verdicts are wrong, and how soon they are right, on many simulated programs of
 * each type. The limits are meant for many programs with random seeds:
 *
 *     build/tests/unit/report/test_verdicts HOW_MANY [FIRST_SEED]
 *
 * Without arguments, runs a few programs of each type with fixed seeds, since a few with random
 * seeds might exceed the limits by chance.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/order.h"
#include "report/site_order.h"
#include "tests/unit/lib/made_program.h"

#ifdef __SANITIZE_ADDRESS__
#define SEEDS 1 /* a sanitizer makes the test slow, and the verdicts are the same without it */
#else
#define SEEDS 4
#endif
#define SEEDS_MAX 10000
#define SAMPLE_WRONG 20

static uint64_t first_seed = 1;
static size_t seed_cnt = SEEDS;
static size_t missed; /* exceeded limits, checked at the end of each test */

struct plan {
	double until_s;
	double from_s;    /* start of the leak; without a leak: start of the steady part */
	uint32_t culprit; /* the site that leaks, if any */
};

typedef struct plan make_fn(struct made_program *program, double param);

/* Results for one program, in numbers of reports unless stated otherwise. */
struct outcome {
	struct plan plan;
	/* reports before the steady part, and those of them that name a site */
	size_t filling, filling_wrong;
	size_t settled, settled_wrong;
	double first_s; /* seconds until the leaking site is first named, or INFINITY */
	size_t after, after_right;
	size_t others_wrong; /* reports that name a site that does not leak */
};

static bool is_accused(const struct site *site, const struct growth *growth)
{
	return growth->history && site_is_suspect(site, growth->history);
}

static void judge_innocent(void *arg, double at_s, const struct site *sites,
			   const struct growth *growth)
{
	struct outcome *ret = arg;
	bool wrong = false;

	for (size_t i = 0; i < MADE_SITES; i++)
		wrong |= is_accused(&sites[i], &growth[i]);
	if (at_s < ret->plan.from_s) {
		ret->filling++;
		ret->filling_wrong += wrong;
	} else {
		ret->settled++;
		ret->settled_wrong += wrong;
	}
}

static void judge_guilty(void *arg, double at_s, const struct site *sites,
			 const struct growth *growth)
{
	struct outcome *ret = arg;
	bool named = is_accused(&sites[ret->plan.culprit], &growth[ret->plan.culprit]);
	bool others = false;

	for (size_t i = 0; i < MADE_SITES; i++)
		others |= i != ret->plan.culprit && is_accused(&sites[i], &growth[i]);
	ret->settled++;
	ret->others_wrong += others;
	if (at_s < ret->plan.from_s)
		return;
	if (named && isinf(ret->first_s))
		ret->first_s = at_s - ret->plan.from_s;
	if (isinf(ret->first_s))
		return;
	ret->after++;
	ret->after_right += named;
}

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return ORDER(*a, *b);
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void miss(const char *name, double param, double bar, const char *unit)
{
	print_message("# MISSED: %s %g: more than %g %s\n", name, param, bar, unit);
	missed++;
}

/*
 * Checks that at most `bar` percent of the reports on the steady parts of programs name a suspect.
 */
static void innocent(const char *name, make_fn *make, double param, double bar)
{
	struct made_program program;
	struct outcome sum = {0};
	uint64_t worst = 0;
	size_t most = 0;

	assert_int_equal(made_program_init(&program), 0);
	for (uint64_t i = 0; i < seed_cnt; i++) {
		struct outcome one = {0};

		made_program_begin(&program, first_seed + i);
		one.plan = make(&program, param);
		made_program_run(&program, one.plan.until_s, judge_innocent, &one);
		sum.filling += one.filling;
		sum.filling_wrong += one.filling_wrong;
		sum.settled += one.settled;
		sum.settled_wrong += one.settled_wrong;
		if (one.settled_wrong > most) {
			most = one.settled_wrong;
			worst = first_seed + i;
		}
	}
	made_program_deinit(&program);
	print_message("# %-28s %6g  settled %7zu: %8.4f %%  filling %7zu: %7.3f %%", name, param,
		      sum.settled, percent(sum.settled_wrong, sum.settled), sum.filling,
		      percent(sum.filling_wrong, sum.filling));
	print_message(most ? "  worst seed %llu: %zu\n" : "\n", (unsigned long long)worst, most);
	/* Reports on one program resemble each other, so a few wrong ones may be due to chance. */
	if (percent(sum.settled_wrong, sum.settled) > bar && sum.settled_wrong > SAMPLE_WRONG)
		miss(name, param, bar, "%");
}

/* Checks that at least half of the leaks are named within bar_s seconds of their start. */
static void guilty(const char *name, make_fn *make, double param, double bar_s)
{
	static double first_s[SEEDS_MAX];
	struct made_program program;
	struct outcome sum = {0};

	assert_int_equal(made_program_init(&program), 0);
	for (uint64_t i = 0; i < seed_cnt; i++) {
		struct outcome one = {.first_s = INFINITY};

		made_program_begin(&program, first_seed + i);
		one.plan = make(&program, param);
		made_program_run(&program, one.plan.until_s, judge_guilty, &one);
		first_s[i] = one.first_s;
		sum.after += one.after;
		sum.after_right += one.after_right;
		sum.settled += one.settled;
		sum.others_wrong += one.others_wrong;
	}
	made_program_deinit(&program);
	qsort(first_s, seed_cnt, sizeof(*first_s), by_value);
	print_message("# %-28s %6g  named after %5.0f s, 9 in 10 %5.0f s, all %5.0f s; then in "
		      "%6.2f %%; others %7.3f %%\n",
		      name, param, first_s[seed_cnt / 2], first_s[seed_cnt * 9 / 10],
		      first_s[seed_cnt - 1], percent(sum.after_right, sum.after),
		      percent(sum.others_wrong, sum.settled));
	if (!(first_s[seed_cnt / 2] <= bar_s))
		miss(name, param, bar_s, "s");
}

/* Traffic is steady from the start of tracing. */
static struct plan make_steady(struct made_program *program, double life_s)
{
	made_churn(program, 0, 0, 7 * life_s, made_scale(program, 2, 20), life_s, 500);
	return (struct plan){.until_s = 7 * life_s, .from_s = life_s};
}

static struct plan make_lognormal(struct made_program *program, double life_s)
{
	double per_second = made_scale(program, 2, 20);

	for (double at = 0; at < 8 * life_s; at += made_exponential(program, 1 / per_second))
		made_block(program, 0, at, made_lognormal(program, life_s, 1), 500);
	return (struct plan){.until_s = 8 * life_s, .from_s = 2 * life_s};
}

static struct plan make_fixed(struct made_program *program, double life_s)
{
	double per_second = made_scale(program, 2, 20);

	for (double at = 0; at < 7 * life_s; at += made_exponential(program, 1 / per_second))
		made_block(program, 0, at, life_s, 500);
	return (struct plan){.until_s = 7 * life_s, .from_s = 1.1 * life_s + 25};
}

/* A cache fills and stays full. */
static struct plan make_cache(struct made_program *program, double full_s)
{
	made_leak(program, 0, 0, full_s, made_scale(program, 2, 1000), 500);
	return (struct plan){.until_s = 12 * full_s, .from_s = full_s + 25};
}

/* A cache fills, then replaces its oldest entries. */
static struct plan make_lru(struct made_program *program, double full_s)
{
	double per_second = made_scale(program, 2, 100);

	for (double at = 0; at < 12 * full_s; at += made_exponential(program, 1 / per_second))
		made_block(program, 0, at, full_s * made_between(program, 0.98, 1.02), 800);
	return (struct plan){.until_s = 12 * full_s, .from_s = full_s + 35};
}

/* A cache fills and later shrinks to a quarter. */
static struct plan make_shrinking(struct made_program *program, double full_s)
{
	for (size_t i = 0; i < 300; i++) {
		double at = made_between(program, 0, full_s);
		bool stays = made_uniform(program) < 0.25;

		made_block(program, 0, at,
			   stays ? FOREVER : 2 * full_s * (1 + made_uniform(program)) - at, 500);
	}
	return (struct plan){.until_s = 12 * full_s, .from_s = full_s + 25};
}

/* A pool warms up: it grows ever more slowly, until it is full. */
static struct plan make_warm_up(struct made_program *program, double part_s)
{
	double blocks = made_scale(program, 100, 5000);

	for (double i = 0; i < blocks; i++)
		made_block(program, 0, made_exponential(program, part_s), FOREVER, 500);
	return (struct plan){.until_s = 12 * part_s, .from_s = 0};
}

/* The program allocates in up to four steps. */
static struct plan make_startup(struct made_program *program, double step_s)
{
	size_t steps = 1 + (size_t)(4 * made_uniform(program));

	for (size_t i = 0; i < steps; i++)
		made_leak(program, 0, (double)i * step_s, (double)i * step_s + 2,
			  made_scale(program, 10, 1000), 500);
	return (struct plan){.until_s = 300 + 10 * step_s, .from_s = 0};
}

static struct plan make_sawtooth(struct made_program *program, double period_s)
{
	double per_second = made_scale(program, 2, 200);

	for (double start_s = 0; start_s < 12 * period_s; start_s += period_s)
		for (double at = 0; at < period_s; at += made_exponential(program, 1 / per_second))
			made_block(program, 0, start_s + at, period_s - at, 200);
	return (struct plan){.until_s = 12 * period_s, .from_s = 2 * period_s};
}

/* Requests come in bursts. The blocks of a burst are freed together. */
static struct plan make_bursts(struct made_program *program, double life_s)
{
	double gap_s = made_scale(program, 1, life_s);

	for (double at = 0; at < 20 * life_s; at += made_exponential(program, gap_s)) {
		double life = made_exponential(program, life_s);
		size_t cnt = 1 + (size_t)made_exponential(program, 20);

		for (size_t i = 0; i < cnt; i++)
			made_block(program, 0, at + 0.001 * (double)i, life, 300);
	}
	return (struct plan){.until_s = 20 * life_s, .from_s = 2 * life_s};
}

/* Traffic rises and falls periodically. */
static struct plan make_waves(struct made_program *program, double period_s)
{
	double life_s = made_scale(program, 1, period_s / 10);
	double per_second = made_scale(program, 2, 100), phase = made_uniform(program);

	for (double at = 0; at < 5 * period_s; at += made_exponential(program, 1 / per_second))
		if (made_uniform(program) < 0.55 + 0.45 * sin(2 * M_PI * (at / period_s + phase)))
			made_block(program, 0, at, made_exponential(program, life_s), 300);
	return (struct plan){.until_s = 5 * period_s, .from_s = 2 * life_s};
}

/* Blocks of one site are gradually replaced by as many blocks of another site. */
static struct plan make_refresh(struct made_program *program, double refresh_s)
{
	size_t cnt = (size_t)made_scale(program, 100, 5000);

	for (size_t i = 0; i < cnt; i++) {
		double at = 60 + made_between(program, 0, refresh_s);

		made_block(program, 0, made_between(program, 0, 4), 0, 500);
		program->blocks[program->cnt - 1].death_s = at + made_between(program, -1, 1);
		made_block(program, 1, at, FOREVER, 500);
	}
	return (struct plan){.until_s = 60 + 3 * refresh_s, .from_s = 25};
}

static struct plan make_plain_leak(struct made_program *program, double per_second)
{
	made_leak(program, 0, 0, 600, per_second, 500);
	made_churn(program, 1, 0, 600, 50, 3, 500);
	return (struct plan){.until_s = 300};
}

/* A leak follows an initial load. */
static struct plan make_knee(struct made_program *program, double per_second)
{
	for (size_t i = 0; i < 10000; i++)
		made_block(program, 0, made_between(program, 0, 4), FOREVER, 500);
	for (size_t i = 0; i < 3000; i++)
		made_block(program, 0, made_between(program, 0, 4), 3, 500);
	made_leak(program, 0, 5, 900, per_second, 500);
	return (struct plan){.until_s = 900, .from_s = 5};
}

static struct plan make_late(struct made_program *program, double per_second)
{
	double from_s = made_between(program, 60, 600);

	made_leak(program, 0, 0, 3, 20, 500);
	made_leak(program, 0, from_s, 1200, per_second, 500);
	made_churn(program, 1, 0, 1200, 5, 20, 500);
	return (struct plan){.until_s = from_s + 600, .from_s = from_s};
}

/* Some percent of the blocks of a site leak. Its other blocks live for life_s on average. */
static struct plan share(struct made_program *program, double percent, double life_s)
{
	double per_second = 20, until_s = 60 * life_s + 300;

	made_churn(program, 0, 0, until_s, per_second * (1 - percent / 100), life_s, 500);
	made_leak(program, 0, 0, until_s, per_second * percent / 100, 500);
	made_churn(program, 1, 0, until_s, 10, life_s, 500);
	return (struct plan){.until_s = until_s};
}

static struct plan make_share_of_short(struct made_program *program, double percent)
{
	return share(program, percent, 1);
}

static struct plan make_share_of_long(struct made_program *program, double percent)
{
	return share(program, percent, 20);
}

static struct plan make_share_of_minutes(struct made_program *program, double percent)
{
	return share(program, percent, 60);
}

static struct plan make_steps(struct made_program *program, double period_s)
{
	for (double at = 2; at < 20 * period_s; at += period_s)
		for (size_t i = 0; i < 20; i++)
			made_block(program, 0, at + 0.01 * (double)i, FOREVER, 300);
	return (struct plan){.until_s = 20 * period_s};
}

/* A block grows in place. */
static struct plan make_array(struct made_program *program, double bytes_per_s)
{
	made_block(program, 0, 1, FOREVER, 1 << 20);
	program->blocks[0].bytes_per_s = bytes_per_s;
	made_churn(program, 1, 0, 300, 50, 3, 500);
	return (struct plan){.until_s = 300};
}

/* A block grows, and moves as it grows. */
static struct plan make_moved_array(struct made_program *program, double bytes_per_s)
{
	struct plan plan = make_array(program, bytes_per_s);

	program->blocks[0].replaced = true;
	return plan;
}

/* A few buffers have sizes that vary all the time. */
static struct plan make_buffers(struct made_program *program, double sigma)
{
	size_t cnt = 1 + (size_t)(4 * made_uniform(program));

	for (size_t i = 0; i < cnt; i++) {
		made_block(program, 0, made_between(program, 0, 4), FOREVER, 1 << 16);
		program->blocks[i].replaced = true;
		program->blocks[i].sigma = sigma;
	}
	return (struct plan){.until_s = 2000};
}

/* From time to time, all blocks are freed except a tenth, which is never freed. */
static struct plan make_rising_sawtooth(struct made_program *program, double period_s)
{
	double per_second = made_scale(program, 2, 200);

	for (double start_s = 0; start_s < 16 * period_s; start_s += period_s)
		for (double at = 0; at < period_s; at += made_exponential(program, 1 / per_second))
			made_block(program, 0, start_s + at,
				   made_uniform(program) < 0.1 ? FOREVER : period_s - at, 200);
	/* During the first period, the growth looks like a leak. */
	return (struct plan){.until_s = 16 * period_s, .from_s = period_s};
}

static const double lives_s[] = {20, 40, 75, 150, 300, 600};
static const double times_s[] = {20, 60, 200};
static const double warm_ups_s[] = {10, 20, 40};
static const double shares[] = {1, 5, 20, 50};

#define EACH(array, at) for (size_t at = 0; at < sizeof(array) / sizeof((array)[0]); at++)

static void steady(void **state)
{
	missed = 0;
	EACH(lives_s, i)
	innocent("steady, exponential", make_steady, lives_s[i], 0.1);
	EACH(lives_s, i)
	innocent("steady, lognormal", make_lognormal, lives_s[i], 0.1);
	EACH(lives_s, i)
	innocent("steady, all alike", make_fixed, lives_s[i], 0.1);
	assert_int_equal(missed, 0);
}

static void caches(void **state)
{
	missed = 0;
	EACH(times_s, i)
	innocent("cache", make_cache, times_s[i], 0.1);
	EACH(times_s, i)
	innocent("cache that replaces", make_lru, times_s[i], 0.1);
	EACH(times_s, i)
	innocent("cache that shrinks", make_shrinking, times_s[i], 0.1);
	EACH(warm_ups_s, i)
	innocent("pool that warms up", make_warm_up, warm_ups_s[i], 15);
	EACH(times_s, i)
	innocent("start-up in steps", make_startup, times_s[i], 0.1);
	assert_int_equal(missed, 0);
}

static void waves(void **state)
{
	missed = 0;
	EACH(times_s, i)
	innocent("sawtooth", make_sawtooth, times_s[i], 0.1);
	EACH(times_s, i)
	innocent("bursts", make_bursts, times_s[i], 0.3);
	EACH(times_s, i)
	innocent("swells and ebbs", make_waves, 5 * times_s[i], 0.1);
	EACH(times_s, i)
	innocent("buffers", make_buffers, 20 / times_s[i], 0.1);
	EACH(times_s, i)
	innocent("refresh", make_refresh, times_s[i], 0.3);
	assert_int_equal(missed, 0);
}

static void leaks(void **state)
{
	static const double rates[] = {0.2, 1, 10, 100};
	static const double grows[] = {1000, 4000, 7500, 100000};
	static const double periods[] = {10, 30, 60};

	missed = 0;
	EACH(rates, i)
	guilty("leak", make_plain_leak, rates[i], rates[i] < 1 ? 120 : 25);
	EACH(rates, i)
	guilty("leak behind a start-up", make_knee, rates[i], rates[i] < 1 ? 180 : 60);
	EACH(rates, i)
	guilty("late leak", make_late, rates[i], rates[i] < 1 ? 120 : 60);
	EACH(grows, i)
	guilty("array", make_array, grows[i], 25);
	EACH(grows, i)
	guilty("array that moves", make_moved_array, grows[i], 60);
	EACH(periods, i)
	guilty("leak in steps", make_steps, periods[i], 10 * periods[i]);
	EACH(times_s, i)
	guilty("sawtooth that rises", make_rising_sawtooth, times_s[i], 2 * times_s[i]);
	assert_int_equal(missed, 0);
}

static void hidden_leaks(void **state)
{
	missed = 0;
	EACH(shares, i)
	guilty("% of blocks of 1 s", make_share_of_short, shares[i], 240);
	EACH(shares, i)
	guilty("% of blocks of 20 s", make_share_of_long, shares[i], 600);
	EACH(shares, i)
	guilty("% of blocks of 60 s", make_share_of_minutes, shares[i], 2400);
	assert_int_equal(missed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady), cmocka_unit_test(caches),       cmocka_unit_test(waves),
		cmocka_unit_test(leaks),  cmocka_unit_test(hidden_leaks),
	};

	if (argc > 1) {
		seed_cnt = strtoull(argv[1], NULL, 0);
		first_seed = (uint64_t)time(NULL) * 1000000;
	}
	if (argc > 2)
		first_seed = strtoull(argv[2], NULL, 0);
	if (!seed_cnt || seed_cnt > SEEDS_MAX)
		return 2;
	printf("# %zu seeds from %llu on\n", seed_cnt, (unsigned long long)first_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
