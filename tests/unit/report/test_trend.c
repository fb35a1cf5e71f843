// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verdicts on programs that are made up: blocks are born and die by chance, and are looked at every
 * few seconds as a run does. The seeds are the same in every run, so that each runs again as it
 * did; others may be given: these and those that follow them build/tests/unit/report/test_trend
 * SEED
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/site_order.h"
#include "tests/unit/lib/random.h"

#define SECOND 1000000000.0
#define OLDER_S 0.5
#define REPLAYS 20
#define RATE_REPLAYS 60 /* where a share of them counts */
#define MAX_SITES 4
#define MAX_BLOCKS 4000000
#define FOREVER 1e9

static uint64_t first_seed;

struct made_block {
	double birth_s;
	double death_s;
	uint32_t size;
	uint32_t site;
};

struct program {
	uint64_t random;
	struct made_block *blocks;
	size_t cnt;
	double interval_s;
};

static double uniform(struct program *program)
{
	return (double)(random_next(&program->random) >> 11) / 9007199254740992.0;
}

static double exponential(struct program *program, double mean)
{
	return -mean * log(1 - uniform(program));
}

static void block(struct program *program, uint32_t site, double birth_s, double life_s,
		  uint32_t size)
{
	assert_true(program->cnt < MAX_BLOCKS);
	program->blocks[program->cnt++] =
		(struct made_block){birth_s, birth_s + life_s, size, site};
}

/* Blocks that come by chance, so many a second, and live for so long on average. */
static void churn(struct program *program, uint32_t site, double from_s, double to_s,
		  double per_second, double life_s, uint32_t size)
{
	for (double at = from_s + exponential(program, 1 / per_second); at < to_s;
	     at += exponential(program, 1 / per_second))
		block(program, site, at, exponential(program, life_s),
		      size / 2 + (uint32_t)(uniform(program) * size));
}

static void leak(struct program *program, uint32_t site, double from_s, double to_s,
		 double per_second, uint32_t size)
{
	churn(program, site, from_s, to_s, per_second, FOREVER, size);
}

static bool was_shown(const struct made_block *made, double at_s)
{
	return made->birth_s <= at_s - OLDER_S && made->death_s > at_s;
}

static void look(const struct program *program, double at_s, double last_s, struct site *sites)
{
	for (uint32_t i = 0; i < MAX_SITES; i++)
		sites[i] = (struct site){.id = i + 1};
	for (size_t i = 0; i < program->cnt; i++) {
		const struct made_block *made = &program->blocks[i];
		struct site *site = &sites[made->site];

		if (!was_shown(made, at_s))
			continue;
		site->bytes += made->size;
		site->count++;
		if (made->birth_s <= last_s - OLDER_S)
			site->kept[age_class((uint64_t)((last_s - made->birth_s) * SECOND))]++;
		ages_add(&site->ages, (uint64_t)((at_s - made->birth_s) * SECOND), made->size);
	}
}

/* What is said of each site at the time. */
static void judge(const struct program *program, double until_s, struct trend *ret)
{
	struct growth growth[MAX_SITES];
	struct site sites[MAX_SITES];
	struct ranking *ranking;
	double last_s = 0;

	assert_int_equal(ranking__new(&ranking), 0);
	for (double at_s = program->interval_s; at_s <= until_s; at_s += program->interval_s) {
		const struct snapshot snap = {.sites = sites,
					      .site_cnt = MAX_SITES,
					      .elapsed_ns = (uint64_t)(at_s * SECOND)};

		look(program, at_s, last_s, sites);
		assert_int_equal(ranking__update(ranking, &snap, growth), 0);
		last_s = at_s;
	}
	for (size_t i = 0; i < MAX_SITES; i++)
		ret[i] = growth[i].history->trend;
	ranking__free(ranking);
}

static void tell(const char *what, uint64_t seed, const struct trend *trend)
{
	fail_msg("%s (seed %llu): tendency %s, score %.2f: growth %.2f, unfreed %.2f, risen %.2f "
		 "older than %.0f s; %.0f bytes/s from %.0f to %.0f, for %.0f s",
		 what, (unsigned long long)seed, tendency_name(trend->tendency), trend->score.total,
		 trend->score.growth, trend->score.unfreed, trend->score.risen,
		 (double)trend->score.older_ns / SECOND, trend->bytes_per_s, trend->low,
		 trend->high, (double)trend->since_ns / SECOND);
}

static void leaks(const char *what, uint64_t seed, const struct trend *trend, double bytes_per_s)
{
	if (!trend_is_suspect(trend) || trend->bytes_per_s < 0.6 * bytes_per_s ||
	    trend->bytes_per_s > 1.6 * bytes_per_s)
		tell(what, seed, trend);
}

static void does_not(const char *what, uint64_t seed, const struct trend *trend)
{
	if (trend_is_suspect(trend))
		tell(what, seed, trend);
}

typedef void replay_fn(struct program *program, uint64_t seed);

static void replay(replay_fn *run, uint64_t cnt)
{
	struct program program = {.blocks = calloc(MAX_BLOCKS, sizeof(struct made_block))};

	assert_non_null(program.blocks);
	for (uint64_t i = 0; i < cnt; i++) {
		program.random = first_seed + i;
		program.cnt = 0;
		program.interval_s = 5;
		run(&program, first_seed + i);
	}
	free(program.blocks);
}

/* 100 bytes each second, beside 50 MB/s of blocks that live for up to some seconds. */
static void run_slow_leak(struct program *program, uint64_t seed)
{
	struct trend trends[MAX_SITES];

	churn(program, 0, 0, 65, 10000, 0.05 + 2 * uniform(program), 5000);
	for (double at = uniform(program); at < 65; at++)
		block(program, 1, at, FOREVER, 100);
	judge(program, 60, trends);
	does_not("churn", seed, &trends[0]);
	leaks("slow leak", seed, &trends[1], 100);
}

static size_t wrong_rates;

/* The same from one place: what leaks is seen by its age alone. */
static void run_hidden_leak(struct program *program, uint64_t seed)
{
	struct trend trends[MAX_SITES];

	churn(program, 0, 0, 65, 10000, 0.05 + 0.4 * uniform(program), 5000);
	for (double at = uniform(program); at < 65; at++)
		block(program, 0, at, FOREVER, 100);
	judge(program, 60, trends);
	if (!trend_is_suspect(&trends[0]))
		tell("hidden leak", seed, &trends[0]);
	/* How fast it is cannot be told well: a few of the others are older than usual. */
	if (trends[0].low > 100 || trends[0].high < 100) {
		print_message("seed %llu: from %.0f to %.0f bytes/s, not 100\n",
			      (unsigned long long)seed, trends[0].low, trends[0].high);
		wrong_rates++;
	}
}

static void run_levelled(struct program *program, uint64_t seed)
{
	double full_s = 30 + 60 * uniform(program);
	struct trend trends[MAX_SITES];

	leak(program, 0, 0, full_s, 1000, 500);
	/* and one that goes on replacing the oldest */
	for (double at = 0; at < 300; at += 0.01)
		block(program, 1, at, full_s * (0.98 + 0.04 * uniform(program)), 800);
	judge(program, 30, trends);
	leaks("cache that fills", seed, &trends[0], 500000);
	judge(program, full_s + 40, trends);
	does_not("cache that is full", seed, &trends[0]);
	does_not("cache that replaces", seed, &trends[1]);
	judge(program, 290, trends);
	does_not("cache that was full long ago", seed, &trends[0]);
	does_not("cache that has been replacing for long", seed, &trends[1]);
}

/* All is freed now and then: once seen, it is no leak. */
static void run_sawtooth(struct program *program, uint64_t seed)
{
	double period_s = 15 + 30 * uniform(program), per_second = 20 + 200 * uniform(program);
	struct trend trends[MAX_SITES];

	for (double start_s = 0; start_s < 300; start_s += period_s)
		for (double at = 0; at < period_s; at += exponential(program, 1 / per_second))
			block(program, 0, start_s + at, period_s - at, 200);
	for (double until_s = 2 * period_s; until_s < 300; until_s += 20) {
		judge(program, until_s, trends);
		does_not("sawtooth", seed, &trends[0]);
	}
}

static void run_startup(struct program *program, uint64_t seed)
{
	struct trend trends[MAX_SITES];

	leak(program, 0, 0, 1 + 10 * uniform(program), 2000, 300);
	block(program, 1, 0.1, FOREVER, 1 << 20);
	for (double until_s = 30; until_s < 200; until_s += 20) {
		judge(program, until_s, trends);
		does_not("start-up", seed, &trends[0]);
		does_not("a single block", seed, &trends[1]);
	}
}

static void run_late(struct program *program, uint64_t seed)
{
	double begin_s = 60 + 400 * uniform(program);
	struct trend trends[MAX_SITES];

	churn(program, 0, 0, 600, 500, 1, 400);
	leak(program, 1, begin_s, 600, 20, 300);
	leak(program, 2, 0, 3, 20, 300);
	leak(program, 2, begin_s, 600, 20, 300);
	judge(program, begin_s - 1, trends);
	does_not("before it leaks", seed, &trends[2]);
	judge(program, begin_s + 60, trends);
	does_not("churn", seed, &trends[0]);
	leaks("late leak", seed, &trends[1], 6000);
	leaks("late leak of what was there", seed, &trends[2], 6000);
}

static void run_two(struct program *program, uint64_t seed)
{
	struct site sites[MAX_SITES] = {{.id = 1}, {.id = 2}};
	struct candidate candidates[2], *order;
	struct site_history histories[2] = {0};
	struct trend trends[MAX_SITES];
	size_t cnt;

	leak(program, 0, 0, 65, 2, 500);
	leak(program, 1, 0, 65, 100, 500);
	churn(program, 2, 0, 65, 2000, 3, 500);
	judge(program, 60, trends);
	leaks("slower leak", seed, &trends[0], 1000);
	leaks("faster leak", seed, &trends[1], 50000);
	does_not("churn", seed, &trends[2]);
	for (size_t i = 0; i < 2; i++) {
		histories[i].trend = trends[i];
		candidates[i] = (struct candidate){&sites[i], {.history = &histories[i]}};
	}
	assert_int_equal(site_order_suspects(candidates, 2, &cnt, &order), 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(order[0].site->id, 2);
	free(order);
}

/* One buffer that is made larger and larger: each time another block. */
static void run_growing_buffer(struct program *program, uint64_t seed)
{
	struct trend trends[MAX_SITES];
	uint32_t size = 1000;

	for (double at = 0; at < 120; at += 4, size += 2000 + (uint32_t)(2000 * uniform(program)))
		block(program, 0, at, 4, size);
	judge(program, 110, trends);
	leaks("growing buffer", seed, &trends[0], 750);
}

static void slow_leak(void **state)
{
	replay(run_slow_leak, REPLAYS);
}
static void hidden_leak(void **state)
{
	wrong_rates = 0;
	replay(run_hidden_leak, RATE_REPLAYS);
	/* Reports say that they are 95 % sure of the rate's limits. */
	assert_true(20 * wrong_rates <= RATE_REPLAYS);
}
static void levelled(void **state)
{
	replay(run_levelled, REPLAYS);
}
static void sawtooth(void **state)
{
	replay(run_sawtooth, REPLAYS);
}
static void startup(void **state)
{
	replay(run_startup, REPLAYS);
}
static void late(void **state)
{
	replay(run_late, REPLAYS);
}
static void two(void **state)
{
	replay(run_two, REPLAYS);
}
static void growing_buffer(void **state)
{
	replay(run_growing_buffer, REPLAYS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_leak), cmocka_unit_test(hidden_leak),
		cmocka_unit_test(levelled),  cmocka_unit_test(sawtooth),
		cmocka_unit_test(startup),   cmocka_unit_test(late),
		cmocka_unit_test(two),       cmocka_unit_test(growing_buffer),
	};

	first_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	printf("seeds from %llu on\n", (unsigned long long)first_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
