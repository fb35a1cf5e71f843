// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which verdict a report has if several apply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/conclusion.h"

/* Adds reasons for verdicts one by one. Each must outweigh the reasons before it. */
static void worst_first(void **state)
{
	static const struct ended_processes ended = {.total = 2};
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .judged = 1};

	assert_string_equal(conclusion_name(conclusion_of(&report)), "clear");
	report.latest_rss = (struct rss){.parts = {[RSS_LIVE] = 4, [RSS_TOP] = 5}};
	assert_string_equal(conclusion_name(conclusion_of(&report)), "keeps");
	report.ended = &ended;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "ended");
	report.pending = 1;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "unknown");
	report.judged = 0;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "early");
	report.undecided = 1;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "unknown");
	report.untraced.cnt = 1;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "untraced");
	report.suspect_cnt = 1;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "grows");
	report.loss_cnt = 1;
	assert_string_equal(conclusion_name(conclusion_of(&report)), "lost");
}

/*
 * Free memory that glibc keeps decides the verdict if it is more than the live blocks and more than
 * a third of RSS, but not if descriptors are traced. If Python keeps more than glibc, other
 * anonymous memory counts as used.
 */
static void kept_memory(void **state)
{
	struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .judged = 1};

	(void)state;
	report.latest_rss = (struct rss){.parts = {[RSS_LIVE] = 5, [RSS_TOP] = 4}};
	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	report.latest_rss = (struct rss){.parts = {[RSS_FILES] = 90, [RSS_TOP] = 30}};
	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	report.latest_rss = (struct rss){.parts = {[RSS_FILES] = 50, [RSS_TOP] = 30}};
	assert_int_equal(conclusion_of(&report), CONCLUSION_KEEPS);
	assert_string_equal(conclusion_level(&report), "none");
	snap.descriptors.are_traced = true;
	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	snap.descriptors.are_traced = false;
	report.latest_rss = (struct rss){
		.parts = {[RSS_LIVE] = 10, [RSS_TOP] = 9, [RSS_PYTHON] = 30, [RSS_MAPPED] = 20}};
	assert_int_equal(conclusion_of(&report), CONCLUSION_KEEPS);
	report.latest_rss.parts[RSS_MAPPED] = 30;
	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	report.latest_rss = (struct rss){
		.parts = {[RSS_LIVE] = 10, [RSS_TOP] = 40, [RSS_PYTHON] = 1, [RSS_MAPPED] = 50}};
	assert_int_equal(conclusion_of(&report), CONCLUSION_KEEPS);
}

/*
 * There is an all-clear if one process has ended, without outstanding memory except that of
 * start-up code.
 */
static void only_start_up(void **state)
{
	static const struct ended_processes ended = {.total = 1};
	const struct snapshot snap = {0};
	struct report report = {
		.snapshot = &snap, .judged = 1, .ended = &ended, .only_runtime_init = true};

	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	report.only_runtime_init = false;
	assert_int_equal(conclusion_of(&report), CONCLUSION_ENDED);
}

/*
 * There is no all-clear while growth of untraced memory, or of a block too young for the report, is
 * pending.
 */
static void pending_growth(void **state)
{
	static const struct process process = {.pid = 7};
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .judged = 1};

	(void)state;
	assert_int_equal(conclusion_of(&report), CONCLUSION_CLEAR);
	report.untraced.pending.process = &process;
	assert_int_equal(conclusion_of(&report), CONCLUSION_UNKNOWN);
	report.untraced.pending.process = NULL;
	report.untraced.too_young.process = &process;
	assert_int_equal(conclusion_of(&report), CONCLUSION_UNKNOWN);
}

static void level_is(const struct report *report, const char *expected)
{
	assert_string_equal(conclusion_level(report), expected);
}

/* Every verdict has a level. The level of growth depends on the score of the first suspect. */
static void levels(void **state)
{
	static const struct ended_processes ended = {.total = 2};
	const struct snapshot snap = {0};
	struct site_history histories[2] = {{.trend.score.total = 0.59}, {.trend.score.total = 1}};
	const struct site site = {0};
	const struct report_site sites[2] = {{.site = &site, .history = &histories[0]},
					     {.site = &site, .history = &histories[1]}};
	struct suspect suspects[2] = {{.site = &sites[0]}, {.site = &sites[1]}};
	struct report report = {.snapshot = &snap, .suspects = suspects};

	(void)state;
	level_is(&report, "low");
	report.judged = 1;
	level_is(&report, "none");
	report.ended = &ended;
	level_is(&report, "low");
	report.pending = 1;
	level_is(&report, "low");
	report.untraced.cnt = 1;
	level_is(&report, "medium");
	report.suspect_cnt = 2;
	level_is(&report, "low");
	histories[0].trend.score.total = 0.6;
	level_is(&report, "medium");
	histories[0].trend.score.total = 0.79;
	level_is(&report, "medium");
	histories[0].trend.score.total = 0.8;
	level_is(&report, "high");
	histories[0].trend.score.total = 0.4;
	report.loss_cnt = 1;
	level_is(&report, "high");
}

/*
 * Memory that grew until its program ended may have been in use. This verdict is not given for
 * kernel memory, nor while another process of the program runs.
 */
static void grew_to_end(void **state)
{
	static const struct process first = {.pid = 1, .comm = "cc1"},
				    second = {.pid = 2, .comm = "cc1"},
				    other = {.pid = 3, .comm = "make"};
	struct process_tally tallies[] = {
		{.process = &first}, {.process = &second}, {.process = &other}};
	const struct snapshot snap = {.tallies = tallies, .tally_cnt = 3};
	struct site_history history = {.trend.score.total = 1};
	struct site sites[] = {{.process = &first}, {.process = &other}};
	const struct report_site shown[] = {{.site = &sites[0], .history = &history},
					    {.site = &sites[1], .history = &history}};
	struct suspect suspects[2] = {{.site = &shown[0]}, {.site = &shown[1]}};
	struct report report = {.snapshot = &snap, .suspects = suspects};

	(void)state;
	assert_false(conclusion_grew_to_end(&report));
	report.suspect_cnt = 1;
	tallies[0].ended_here = true;
	assert_false(conclusion_grew_to_end(&report));
	level_is(&report, "high");
	tallies[1].ended_here = true;
	assert_true(conclusion_grew_to_end(&report));
	level_is(&report, "medium");
	report.suspect_cnt = 2;
	assert_false(conclusion_grew_to_end(&report));
	suspects[1].is_slight = true;
	assert_true(conclusion_grew_to_end(&report));
	sites[0].space = SPACE_KERNEL;
	assert_false(conclusion_grew_to_end(&report));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_first),   cmocka_unit_test(kept_memory),
		cmocka_unit_test(only_start_up), cmocka_unit_test(pending_growth),
		cmocka_unit_test(levels),        cmocka_unit_test(grew_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
