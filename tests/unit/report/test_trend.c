// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests verdicts on simulated programs whose blocks are allocated and freed at random, with a
 * snapshot every few seconds. Seeds are fixed, so that runs are reproducible. To use other seeds,
 * beginning with SEED, run
 *
 *     build/tests/unit/report/test_trend SEED
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
#include "tests/unit/lib/made_program.h"

#define SECOND 1000000000.0
/*
 * Number of seeds, and number of seeds in tests that allow some to fail. A sanitizer makes the test
 * slow, and the verdicts are the same without it.
 */
#ifdef __SANITIZE_ADDRESS__
#define REPLAYS 5
#define RATE_REPLAYS 20
#else
#define REPLAYS 20
#define RATE_REPLAYS 60
#endif

static uint64_t first_seed;

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

typedef void replay_fn(struct made_program *program, uint64_t seed);

static void replay(replay_fn *run, uint64_t cnt)
{
	struct made_program program;

	assert_int_equal(made_program_init(&program), 0);
	for (uint64_t i = 0; i < cnt; i++) {
		made_program_begin(&program, first_seed + i);
		run(&program, first_seed + i);
	}
	made_program_deinit(&program);
}

/*
 * A site leaks 100 bytes per second, while another one allocates 50 MB/s of blocks that live for up
 * to a few seconds.
 */
static void run_slow_leak(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	made_churn(program, 0, 0, 65, 10000, 0.05 + 2 * made_uniform(program), 5000);
	for (double at = made_uniform(program); at < 65; at++)
		made_block(program, 1, at, FOREVER, 100);
	made_program_judge(program, 60, trends);
	does_not("churn", seed, &trends[0]);
	leaks("slow leak", seed, &trends[1], 100);
}

static size_t wrong_rates, missed;

/* Leaked blocks and short-lived blocks come from one site: only their ages tell them apart. */
static void run_hidden_leak(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	made_churn(program, 0, 0, 65, 10000, 0.05 + 0.4 * made_uniform(program), 5000);
	for (double at = made_uniform(program); at < 65; at++)
		made_block(program, 0, at, FOREVER, 100);
	made_program_judge(program, 60, trends);
	if (!trend_is_suspect(&trends[0])) {
		print_message("seed %llu: leak missed\n", (unsigned long long)seed);
		missed++;
		return;
	}
	/*
	 * The rate is less certain than the verdict, as a few short-lived blocks happen to live
	 * long.
	 */
	if (trends[0].low > 100 || trends[0].high < 100) {
		print_message("seed %llu: from %.0f to %.0f bytes/s, not 100\n",
			      (unsigned long long)seed, trends[0].low, trends[0].high);
		wrong_rates++;
	}
}

static void run_levelled(struct made_program *program, uint64_t seed)
{
	double full_s = 30 + 60 * made_uniform(program);
	struct trend trends[MADE_SITES];

	made_leak(program, 0, 0, full_s, 1000, 500);
	/* A second cache, once full, replaces its oldest entries. */
	for (double at = 0; at < 300; at += 0.01)
		made_block(program, 1, at, full_s * (0.98 + 0.04 * made_uniform(program)), 800);
	made_program_judge(program, 30, trends);
	leaks("cache that fills", seed, &trends[0], 500000);
	made_program_judge(program, full_s + 16, trends);
	does_not("cache that is just full", seed, &trends[0]);
	made_program_judge(program, full_s + 40, trends);
	does_not("cache that is full", seed, &trends[0]);
	does_not("cache that replaces", seed, &trends[1]);
	made_program_judge(program, 290, trends);
	does_not("cache that was full long ago", seed, &trends[0]);
	if (trends[0].pending)
		tell("cache that was full long ago", seed, &trends[0]);
	does_not("cache that has been replacing for long", seed, &trends[1]);
	if (trends[1].pending)
		tell("cache that has been replacing for long", seed, &trends[1]);
}

/*
 * A site grows in bursts and frees nothing. After a burst, another one is expected for as long as
 * the site was quiet before this burst, but for at most a minute.
 */
static void run_bursts(struct made_program *program, uint64_t seed)
{
	double quiet_s = made_between(program, 20, 50);
	struct trend trends[MADE_SITES];

	made_churn(program, 1, 0, 400, 200, 1, 400);
	for (size_t i = 1; i <= 2; i++)
		made_leak(program, 0, (double)i * quiet_s, (double)i * quiet_s + 2, 500, 300);
	for (double until_s = quiet_s + 6; until_s < 2.9 * quiet_s; until_s += 5) {
		made_program_judge(program, until_s, trends);
		if (!trends[0].pending && !trend_is_suspect(&trends[0]))
			tell("between bursts", seed, &trends[0]);
		if (trends[1].pending)
			tell("churn", seed, &trends[1]);
	}
	made_program_judge(program, 6 * quiet_s, trends);
	if (trends[0].pending)
		tell("long after the bursts", seed, &trends[0]);
}

/* A leak that has just begun is pending. */
static void run_just_begun(struct made_program *program, uint64_t seed)
{
	double begin_s = made_between(program, 60, 200);
	struct trend trends[MADE_SITES];

	made_churn(program, 1, 0, 300, 200, 1, 400);
	made_leak(program, 0, begin_s, 300, 50, 300);
	made_program_judge(program, begin_s + 7, trends);
	if (!trends[0].pending)
		tell("a leak that has just begun", seed, &trends[0]);
}

/*
 * A queue is read more slowly than written. As most blocks are freed, the site need not be
 * suspected at once, but until then it must be pending.
 */
static void run_slow_reader(struct made_program *program, uint64_t seed)
{
	double each_s = 1 / made_between(program, 5, 50);
	double late_s = each_s * made_between(program, 0.3, 2); /* extra wait per message */
	double waits_s = 0;
	struct trend trends[MADE_SITES];

	made_churn(program, 1, 0, 300, 200, 1, 400);
	for (double at_s = each_s; at_s < 300; at_s += each_s) {
		made_block(program, 0, at_s, waits_s, 300);
		waits_s += late_s;
	}
	for (double until_s = 30; until_s < 290; until_s += 20) {
		made_program_judge(program, until_s, trends);
		if (!trends[0].pending && !trend_is_suspect(&trends[0]))
			tell("a queue whose reader is too slow", seed, &trends[0]);
		if (trends[1].pending)
			tell("churn", seed, &trends[1]);
	}
}

/*
 * All blocks are freed from time to time. After two such periods, growth in between is not taken
 * for a leak.
 */
static void run_sawtooth(struct made_program *program, uint64_t seed)
{
	double period_s = 15 + 30 * made_uniform(program),
	       per_second = 20 + 200 * made_uniform(program);
	struct trend trends[MADE_SITES];

	for (double start_s = 0; start_s < 300; start_s += period_s)
		for (double at = 0; at < period_s; at += made_exponential(program, 1 / per_second))
			made_block(program, 0, start_s + at, period_s - at, 200);
	for (double until_s = 2 * period_s; until_s < 300; until_s += 20) {
		made_program_judge(program, until_s, trends);
		does_not("sawtooth", seed, &trends[0]);
	}
}

static void run_startup(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	made_leak(program, 0, 0, 1 + 10 * made_uniform(program), 2000, 300);
	made_block(program, 1, 0.1, FOREVER, 1 << 20);
	for (double until_s = 30; until_s < 200; until_s += 20) {
		made_program_judge(program, until_s, trends);
		does_not("start-up", seed, &trends[0]);
		does_not("a single block", seed, &trends[1]);
	}
}

static void run_late(struct made_program *program, uint64_t seed)
{
	double begin_s = 60 + 400 * made_uniform(program);
	struct trend trends[MADE_SITES];

	made_churn(program, 0, 0, 600, 500, 1, 400);
	made_leak(program, 1, begin_s, 600, 20, 300);
	made_leak(program, 2, 0, 3, 20, 300);
	made_leak(program, 2, begin_s, 600, 20, 300);
	made_program_judge(program, begin_s - 1, trends);
	does_not("before it leaks", seed, &trends[2]);
	made_program_judge(program, begin_s + 60, trends);
	does_not("churn", seed, &trends[0]);
	leaks("late leak", seed, &trends[1], 6000);
	leaks("late leak of what was there", seed, &trends[2], 6000);
}

/* A leak is hidden by blocks that were allocated while memleak traced and now expire faster. */
static void run_masked(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	for (int i = 0; i < 10000; i++)
		made_block(program, 0, 5, made_between(program, 1, 120), 1500);
	made_leak(program, 1, 5, 90, 20, 2000);
	made_program_judge(program, 80, trends);
	if (!trend_is_suspect(&trends[1]) && !trends[1].undecided && !trends[1].pending)
		tell("masked leak", seed, &trends[1]);
}

static void run_two(struct made_program *program, uint64_t seed)
{
	struct site sites[MADE_SITES] = {{.id = 1}, {.id = 2}};
	struct candidate candidates[2], *order;
	struct site_history histories[2] = {0};
	struct trend trends[MADE_SITES];
	size_t cnt;

	made_leak(program, 0, 0, 65, 2, 500);
	made_leak(program, 1, 0, 65, 100, 500);
	made_churn(program, 2, 0, 65, 2000, 3, 500);
	made_program_judge(program, 60, trends);
	leaks("slower leak", seed, &trends[0], 1000);
	leaks("faster leak", seed, &trends[1], 50000);
	does_not("churn", seed, &trends[2]);
	for (size_t i = 0; i < 2; i++) {
		histories[i].trend = trends[i];
		candidates[i] =
			(struct candidate){.site = &sites[i], .growth = {.history = &histories[i]}};
	}
	assert_int_equal(site_order_suspects(candidates, 2, &cnt, &order), 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(order[0].site->id, 2);
	free(order);
}

static void run_growing_buffer(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	made_block(program, 0, 1, FOREVER, 1000);
	program->blocks[0].bytes_per_s = 500 + 500 * made_uniform(program);
	made_program_judge(program, 110, trends);
	leaks("growing buffer", seed, &trends[0], 750);
}

/*
 * A cache was full before tracing began, and its entries, of two blocks each, are replaced one by
 * one. sized: true if frees of blocks from before tracing have a size. If leaks_per_s is not 0,
 * blocks of another size leak.
 */
static void run_full_before(struct made_program *program, bool sized, double leaks_per_s)
{
	const double life_s = made_between(program, 100, 1000),
		     per_s = made_between(program, 5, 50);

	program->attached = true;
	program->sized = sized;
	for (double at = -life_s; at < 60; at += made_exponential(program, 1 / per_s)) {
		made_block(program, 0, at, life_s, 500 + (uint32_t)(made_uniform(program) * 2000));
		made_block(program, 1, at, life_s, 32);
	}
	if (leaks_per_s > 0)
		made_leak(program, 2, 0, 60, leaks_per_s, 64);
}

static size_t alarms;

static void run_replaced(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	run_full_before(program, seed % 2, 0);
	made_program_judge(program, 60, trends);
	alarms += trend_is_suspect(&trends[0]) || trend_is_suspect(&trends[1]);
}

/*
 * Large blocks leak, while a few blocks from before tracing are freed and small blocks become
 * fewer.
 */
static void run_few_earlier(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	program->attached = true;
	for (double at = 1; at < 60; at += 2)
		made_block(program, 0, at, FOREVER, 1000000);
	for (int i = 0; i < 100; i++)
		made_block(program, 1, 0, made_between(program, 1, 100), 32);
	for (int i = 0; i < 3; i++)
		made_block(program, 2, -1, made_between(program, 30, 60), 32);
	made_program_judge(program, 60, trends);
	leaks("large blocks", seed, &trends[0], 500000);
}

/*
 * Blocks leak beside a cache that frees blocks from before tracing. Only the sizes of the freed
 * blocks show that the leaking ones do not replace them.
 */
static void run_beside_replaced(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	run_full_before(program, true, 30);
	made_program_judge(program, 60, trends);
	alarms += trend_is_suspect(&trends[0]);
	missed += !trend_is_suspect(&trends[2]);
}

/*
 * Numbers of reports, by verdict, on an array that grows in ever larger steps. waiting_after:
 * reports that wait for another step although the array has not grown for long.
 */
struct widening {
	double last_s, gap_s;               /* time of the last step, and interval before it */
	size_t suspected, waiting, cleared; /* numbers of reports with this verdict */
	size_t waiting_after;
};

static void watch_widening(void *arg, double at_s, const struct site *sites,
			   const struct growth *growth)
{
	struct widening *ret = arg;
	const struct trend *trend = &growth[0].history->trend;

	if (at_s > ret->last_s + 6 * ret->gap_s)
		ret->waiting_after += trend->pending;
	if (at_s > ret->last_s + 2 * ret->gap_s)
		return;
	ret->suspected += trend_is_suspect(trend);
	ret->waiting += trend->pending;
	ret->cleared += trend->tendency != TENDENCY_UNKNOWN && !trend_is_suspect(trend);
}

/* An array grows in steps. The steps and the intervals between them grow by the same factor. */
static void run_widening(struct made_program *program, uint64_t seed)
{
	double factor = made_between(program, 1.3, 2), gap_s = made_between(program, 0.5, 1);
	struct widening seen = {0};

	for (double at_s = gap_s; at_s < 200; at_s += gap_s) {
		made_block(program, 0, at_s, FOREVER, (uint32_t)(100000 * gap_s));
		seen.last_s = at_s;
		seen.gap_s = gap_s;
		gap_s *= factor;
	}
	made_churn(program, 1, 0, 1000, 5, 1, 400);
	made_program_run(program, 1000, watch_widening, &seen);
	/* the history is limited, so it may lack a step */
	if (seen.cleared > 1 || seen.waiting_after)
		fail_msg(
			"widening by %.2f (seed %llu): %zu reports suspect it, %zu wait, %zu clear "
			"it; %zu wait when it is over",
			factor, (unsigned long long)seed, seen.suspected, seen.waiting,
			seen.cleared, seen.waiting_after);
}

/* A cache that fills ever more slowly has levelled off: no further step is expected. */
static void run_saturating(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	for (int i = 0; i < 12; i++)
		made_block(program, 0, pow(1.6, i), FOREVER, 1000000 >> i);
	made_program_judge(program, 250, trends);
	does_not("saturating cache", seed, &trends[0]);
	if (trends[0].pending)
		tell("saturating cache", seed, &trends[0]);
}

/* A cache that is half full grows by 30 blocks per second after 100 blocks per second. */
static void run_slowing(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];
	double lately_per_s;

	made_leak(program, 0, 0, 100, 100, 200);
	made_leak(program, 0, 100, 150, 30, 200);
	made_leak(program, 1, 0, 150, 100, 200);
	made_program_judge(program, 150, trends);
	leaks("steady leak", seed, &trends[1], 20000);
	lately_per_s = trends[0].bytes_per_s - trends[0].slowed_per_s;
	if (!trend_is_suspect(&trends[0]) || lately_per_s < 0.6 * 6000 || lately_per_s > 1.6 * 6000)
		tell("slowing growth", seed, &trends[0]);
	if (trends[1].slowed_per_s)
		tell("steady growth", seed, &trends[1]);
}

/* Growth that began lately and slows down is no leak yet: it may be a pool that warms up. */
static void run_warm_up(struct made_program *program, uint64_t seed)
{
	struct trend trends[MADE_SITES];

	made_leak(program, 0, 0, 30, 20, 200);
	made_leak(program, 0, 30, 60, 8, 200);
	made_leak(program, 1, 0, 60, 20, 200);
	made_program_judge(program, 60, trends);
	does_not("pool that warms up", seed, &trends[0]);
	if (!trends[0].pending)
		tell("pool that warms up", seed, &trends[0]);
	leaks("steady leak", seed, &trends[1], 4000);
}

static void count_suspicions(void *arg, double at_s, const struct site *sites,
			     const struct growth *growth)
{
	const struct site_history *history = growth[0].history;
	size_t *cnt = arg;

	*cnt += history && trend_is_suspect(&history->trend);
}

/*
 * A full cache replaces its blocks in turn. Their sizes have a period, which is almost a fraction
 * of the interval, so that the sum of the sizes changes slowly.
 */
static void run_turns(struct made_program *program, uint64_t seed)
{
	double turn_s = made_between(program, 0.024, 0.026);
	size_t suspicions = 0;

	for (size_t i = 0; i < (size_t)(300 / turn_s); i++)
		made_block(program, 0, (double)i * turn_s, 80 * turn_s, (uint32_t)(650 + i % 100));
	made_program_run(program, 300, count_suspicions, &suspicions);
	if (suspicions)
		fail_msg("blocks in turns (seed %llu): %zu reports suspect them",
			 (unsigned long long)seed, suspicions);
}

/* The reports on a pool that fills. */
struct filling {
	uint64_t bytes;       /* at the report before */
	size_t level;         /* number of reports since the last one with growth */
	bool is_suspect;      /* at the report before */
	double suspected_s;   /* time of the latest report that suspects the pool */
	size_t new_suspicion; /* number of reports that suspect it anew, although it is level */
};

static void watch_filling(void *arg, double at_s, const struct site *sites,
			  const struct growth *growth)
{
	const struct site_history *history = growth[0].history;
	bool is_suspect = history && trend_is_suspect(&history->trend);
	struct filling *seen = arg;

	seen->level = sites[0].bytes == seen->bytes ? seen->level + 1 : 0;
	seen->bytes = sites[0].bytes;
	seen->new_suspicion += is_suspect && !seen->is_suspect && seen->level >= 2;
	seen->is_suspect = is_suspect;
	if (is_suspect)
		seen->suspected_s = at_s;
}

static size_t late_pools, new_suspicions;

/* A pool fills in a few steps and stays full. It is not suspected for longer than it took to fill.
 */
static void run_filling(struct made_program *program, uint64_t seed)
{
	double begin_s = made_between(program, 0, 20), took_s = made_between(program, 5, 15);
	struct filling seen = {0};
	int steps = (int)made_between(program, 4, 12);

	program->interval_s = 1;
	for (int i = 0; i <= steps; i++)
		for (double block = made_between(program, 5, 50); block > 0; block--)
			made_block(program, 0, begin_s + took_s * i / steps, FOREVER, 200);
	made_churn(program, 1, 0, 120, 5, 1, 400);
	made_program_run(program, 120, watch_filling, &seen);
	late_pools += seen.suspected_s > begin_s + 2 * took_s;
	new_suspicions += seen.new_suspicion;
}

static void slowing(void **state)
{
	replay(run_slowing, REPLAYS);
	replay(run_warm_up, REPLAYS);
}

static void turns(void **state)
{
	replay(run_turns, REPLAYS);
}

static void filling(void **state)
{
	late_pools = new_suspicions = 0;
	replay(run_filling, RATE_REPLAYS);
	assert_int_equal(late_pools, 0);
	/* The window may begin at a point that makes the latest growth look fast. */
	assert_true(15 * new_suspicions <= RATE_REPLAYS);
}

static void widening(void **state)
{
	replay(run_widening, REPLAYS);
	replay(run_saturating, REPLAYS);
}
static void slow_reader(void **state)
{
	replay(run_slow_reader, REPLAYS);
}
static void slow_leak(void **state)
{
	replay(run_slow_leak, REPLAYS);
}
static void hidden_leak(void **state)
{
	wrong_rates = missed = 0;
	replay(run_hidden_leak, RATE_REPLAYS);
	/* The limits of a rate have a confidence of 95 %. */
	assert_true(20 * wrong_rates <= RATE_REPLAYS);
	/*
	 * Some leaks may be missed: short-lived blocks of the same site may happen to fall by more
	 * than the leak grows.
	 */
	assert_true(20 * missed <= RATE_REPLAYS);
}
static void levelled(void **state)
{
	replay(run_levelled, REPLAYS);
}
static void bursts(void **state)
{
	replay(run_bursts, REPLAYS);
	replay(run_just_begun, REPLAYS);
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
static void masked(void **state)
{
	replay(run_masked, REPLAYS);
}
static void two(void **state)
{
	replay(run_two, REPLAYS);
}
static void growing_buffer(void **state)
{
	replay(run_growing_buffer, REPLAYS);
}
static void replaced(void **state)
{
	alarms = 0;
	replay(run_replaced, RATE_REPLAYS);
	assert_int_equal(alarms, 0);
}
static void few_earlier(void **state)
{
	replay(run_few_earlier, REPLAYS);
}
static void beside_replaced(void **state)
{
	alarms = missed = 0;
	replay(run_beside_replaced, RATE_REPLAYS);
	assert_int_equal(alarms, 0);
	/*
	 * Some leaks may be missed: the number of freed blocks of the cache varies by more than the
	 * leak grows.
	 */
	assert_true(5 * missed <= RATE_REPLAYS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_leak),   cmocka_unit_test(hidden_leak),
		cmocka_unit_test(slow_reader), cmocka_unit_test(levelled),
		cmocka_unit_test(sawtooth),    cmocka_unit_test(startup),
		cmocka_unit_test(late),        cmocka_unit_test(masked),
		cmocka_unit_test(two),         cmocka_unit_test(growing_buffer),
		cmocka_unit_test(replaced),    cmocka_unit_test(beside_replaced),
		cmocka_unit_test(few_earlier), cmocka_unit_test(filling),
		cmocka_unit_test(turns),       cmocka_unit_test(slowing),
		cmocka_unit_test(widening),    cmocka_unit_test(bursts),
	};

	first_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	printf("seeds from %llu on\n", (unsigned long long)first_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
