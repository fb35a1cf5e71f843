// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the growth of sites since the previous report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/ranking.h"

static void update(struct ranking *ranking, struct site *sites, size_t cnt, struct growth *growth)
{
	const struct snapshot snap = {.sites = sites, .site_cnt = cnt};

	assert_int_equal(ranking__update(ranking, &snap, growth), 0);
}

static void expect(const struct growth *growth, int64_t bytes, int64_t count)
{
	assert_int_equal(growth->bytes, bytes);
	assert_int_equal(growth->count, count);
}

static void first_counts_from_zero(void **state)
{
	struct site sites[] = {{.id = 0, .bytes = 80, .count = 5}, {.id = ~0ULL, .count = 1}};
	struct growth growth[2];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	update(ranking, sites, 2, growth);
	expect(&growth[0], 80, 5);
	expect(&growth[1], 0, 1);
	ranking__free(ranking);
}

/*
 * Growth is the difference from the previous report. Snapshots between two reports only extend the
 * histories.
 */
static void noted_between_reports(void **state)
{
	struct site sites[] = {{.id = 1, .bytes = 100, .count = 10},
			       {.id = 2, .bytes = 50, .count = 1}};
	struct snapshot snap = {.sites = sites, .site_cnt = 2, .elapsed_ns = 1000};
	struct ranking_past past;
	struct growth growth[2];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	assert_int_equal(ranking__update(ranking, &snap, growth), 0);
	sites[0].bytes = 130;
	sites[0].count = 13;
	snap.site_cnt = 1;
	snap.elapsed_ns = 3000;
	assert_int_equal(ranking__note(ranking, &snap), 0);
	sites[0].bytes = 170;
	sites[0].count = 17;
	snap.site_cnt = 2;
	snap.elapsed_ns = 6000;
	assert_int_equal(ranking__update(ranking, &snap, growth), 0);
	expect(&growth[0], 70, 7);
	expect(&growth[1], 0, 0);
	assert_int_equal(growth[0].history->point_cnt, 3);
	assert_int_equal(growth[0].history->points[1]->bytes, 130);
	assert_int_equal(growth[1].history->points[1]->bytes, 0);
	past = ranking__past(ranking);
	assert_int_equal(past.cnt, 3);
	assert_int_equal(past.ns, 5000);
	ranking__free(ranking);
}

static void grows_shrinks_stays(void **state)
{
	struct site before[] = {{.id = 1, .bytes = 100, .count = 10},
				{.id = 2, .bytes = 100, .count = 10},
				{.id = 3, .bytes = 100, .count = 10}};
	struct site after[] = {{.id = 3, .bytes = 40, .count = 4},
			       {.id = 4, .bytes = 7, .count = 1},
			       {.id = 1, .bytes = 150, .count = 11},
			       {.id = 2, .bytes = 100, .count = 10}};
	struct growth growth[4];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	update(ranking, before, 3, growth);
	update(ranking, after, 4, growth);
	expect(&growth[0], -60, -6);
	expect(&growth[1], 7, 1);
	expect(&growth[2], 50, 1);
	expect(&growth[3], 0, 0);
	ranking__free(ranking);
}

static void vanished_comes_back(void **state)
{
	struct site site = {.id = 1, .bytes = 100, .count = 10};
	struct growth growth[1];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	update(ranking, &site, 1, growth);
	update(ranking, NULL, 0, growth);
	update(ranking, &site, 1, growth);
	expect(&growth[0], 100, 10);
	ranking__free(ranking);
}

/*
 * Takes a snapshot with a site, one without it, and one with it again. Returns the length of the
 * site's history after the third snapshot. ended: the site's process ends before the second
 * snapshot. forget: histories of absent sites are dropped after it.
 */
static size_t moments_after_absence(bool ended, bool forget)
{
	const struct process process = {.pid = 1, .image = 7};
	struct process_tally tally = {.process = &process, .ended = ended};
	struct site site = {.id = 1, .bytes = 5, .count = 5, .process = &process};
	struct snapshot snap = {.sites = &site, .site_cnt = 1, .elapsed_ns = 1};
	struct growth growth;
	struct ranking *ranking;
	size_t cnt;

	assert_int_equal(ranking__new(&ranking), 0);
	assert_int_equal(ranking__update(ranking, &snap, &growth), 0);
	snap = (struct snapshot){.tallies = &tally, .tally_cnt = 1, .elapsed_ns = 2};
	assert_int_equal(ranking__update(ranking, &snap, &growth), 0);
	if (forget)
		ranking__forget_absent(ranking);
	snap = (struct snapshot){.sites = &site, .site_cnt = 1, .elapsed_ns = 3};
	assert_int_equal(ranking__update(ranking, &snap, &growth), 0);
	cnt = growth.history->point_cnt;
	ranking__free(ranking);
	return cnt;
}

/* Histories of ended processes are dropped, as many processes may end between two reports. */
static void ended_are_forgotten(void **state)
{
	assert_int_equal(moments_after_absence(false, false), 3);
	assert_int_equal(moments_after_absence(true, false), 2);
	assert_int_equal(moments_after_absence(false, true), 2);
}

static void huge_totals(void **state)
{
	struct site site = {.id = 1, .bytes = 1ULL << 62, .count = 1ULL << 40};
	struct growth growth[1];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	update(ranking, &site, 1, growth);
	expect(&growth[0], 1LL << 62, 1LL << 40);
	site.bytes = 0;
	site.count = 0;
	update(ranking, &site, 1, growth);
	expect(&growth[0], -(1LL << 62), -(1LL << 40));
	ranking__free(ranking);
}

/*
 * Many sites whose ids have the same low or high bits, in changing order, must get their own
 * growth.
 */
static void many_sites(void **state)
{
	size_t cnt = 50000;
	cleanup_free struct site *sites = calloc(cnt, sizeof(*sites));
	cleanup_free struct growth *growth = calloc(cnt, sizeof(*growth));
	struct ranking *ranking;

	assert_non_null(sites);
	assert_non_null(growth);
	assert_int_equal(ranking__new(&ranking), 0);
	for (unsigned int shift = 0; shift <= 40; shift += 20) {
		for (uint64_t round = 0; round < 3; round++) {
			for (uint64_t i = 0; i < cnt; i++) {
				struct site *site = &sites[round % 2 ? cnt - 1 - i : i];

				site->id = i << shift ^ 0xabc0000000000def;
				site->bytes = i * 10 + round * i;
				site->count = i + round;
			}
			update(ranking, sites, cnt, growth);
			for (uint64_t i = 0; round && i < cnt; i++)
				expect(&growth[round % 2 ? cnt - 1 - i : i], (int64_t)i, 1);
		}
		update(ranking, NULL, 0, growth);
	}
	ranking__free(ranking);
}

/*
 * Sites that are in the same state at each report share all their points, so that very many small
 * sites take little memory. A site in another state shares none of them.
 */
static void same_state_is_shared(void **state)
{
	struct site sites[] = {{.id = 1, .bytes = 32, .count = 1},
			       {.id = 2, .bytes = 32, .count = 1},
			       {.id = 3, .bytes = 48, .count = 1}};
	struct snapshot snap = {.sites = sites, .site_cnt = 3};
	struct growth growth[3];
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	for (size_t i = 1; i <= 2 * HISTORY_POINTS_MAX; i++) {
		snap.elapsed_ns = i;
		assert_int_equal(ranking__update(ranking, &snap, growth), 0);
		assert_int_equal(growth[0].history->point_cnt,
				 i < HISTORY_POINTS_MAX ? i : HISTORY_POINTS_MAX);
		for (size_t j = 0; j < growth[0].history->point_cnt; j++) {
			assert_ptr_equal(growth[1].history->points[j],
					 growth[0].history->points[j]);
			assert_ptr_not_equal(growth[2].history->points[j],
					     growth[0].history->points[j]);
		}
	}
	assert_int_equal(growth[0].history->points[0]->elapsed_ns, 1);
	ranking__free(ranking);
}

/*
 * Frees of blocks from before tracing are counted for each process, unless some of them may be
 * frees of suppressed or untracked blocks.
 */
static void earlier_frees(void **state)
{
	const struct process process = {.image = 7};
	struct site site = {.id = 1, .process = &process, .bytes = 100, .count = 10};
	struct process_tally tally = {.process = &process, .earlier = {5, 4, 300}};
	struct suppressed suppressed = {.pattern = "cache"};
	struct snapshot snap = {.sites = &site,
				.site_cnt = 1,
				.tallies = &tally,
				.tally_cnt = 1,
				.suppressed = &suppressed,
				.suppressed_cnt = 1};
	const struct history_point *now;
	struct growth growth;
	struct ranking *ranking;

	assert_int_equal(ranking__new(&ranking), 0);
	for (int i = 0; i < 4; i++) {
		suppressed.count = i == 1;
		snap.lost[LOSS_ALLOCS_FULL] = i == 2;
		snap.lost[LOSS_UNWIND] = i == 3;
		assert_int_equal(ranking__update(ranking, &snap, &growth), 0);
		now = growth.history->points[growth.history->point_cnt - 1];
		assert_int_equal(now->process_blocks, 10);
		assert_int_equal(now->earlier.cnt, i == 1 || i == 2 ? 0 : 5);
		assert_int_equal(now->earlier.bytes, i == 1 || i == 2 ? 0 : 300);
	}
	ranking__free(ranking);
}

static void nothing_to_free(void **state)
{
	ranking__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_counts_from_zero),
		cmocka_unit_test(grows_shrinks_stays),
		cmocka_unit_test(noted_between_reports),
		cmocka_unit_test(vanished_comes_back),
		cmocka_unit_test(ended_are_forgotten),
		cmocka_unit_test(huge_totals),
		cmocka_unit_test(many_sites),
		cmocka_unit_test(same_state_is_shared),
		cmocka_unit_test(earlier_frees),
		cmocka_unit_test(nothing_to_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
