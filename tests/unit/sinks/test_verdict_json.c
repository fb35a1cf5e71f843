// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the verdict as a line of JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/conclusion.h"
#include "sinks/next_command.h"
#include "sinks/sink.h"
#include "tests/unit/lib/json_check.h"

#define SECOND_NS UINT64_C(1000000000)
#define MOST 5 /* maximum number of suspects, and of losses, in a report */

/* The name of the process must not become part of a command. */
static const struct process process = {.pid = 7, .comm = "a;reboot"};

static void expect(const struct report *report, const char *verdict, const char *expected)
{
	cleanup_free char *next = next_command(report);

	assert_string_equal(conclusion_name(conclusion_of(report)), verdict);
	if (expected)
		assert_non_null(next);
	assert_string_equal(next ?: "null", expected ?: "null");
}

/*
 * After a run that was too short, the next command has the same options. It runs twice as long, but
 * at least a minute and at most an hour.
 */
static void longer_runs(void **state)
{
	static const struct process child = {.pid = 8, .comm = "b"};
	static const struct proof_facts proof = {.method = PROOF_CLONE};
	static const struct proof_facts at_end = {.method = PROOF_ENDED};
	struct process_tally tallies[2] = {{.process = &process, .footprint.is_known = true},
					   {.process = &child, .footprint.is_known = true}};
	struct snapshot snap = {.tallies = tallies, .tally_cnt = 1, .elapsed_ns = 4 * SECOND_NS};
	struct report report = {.snapshot = &snap};

	(void)state;
	expect(&report, "early", "memleak --format verdict -p 7 5 12");
	report.judged = report.pending = 1;
	expect(&report, "unknown", "memleak --format verdict -p 7 5 12");
	snap.elapsed_ns = 90 * SECOND_NS;
	expect(&report, "unknown", "memleak --format verdict -p 7 15 12");
	snap.elapsed_ns = 90000 * SECOND_NS;
	report.any_age = true;
	expect(&report, "unknown", "memleak --format verdict -o 0 -p 7 300 12");
	report.any_age = false;
	snap.elapsed_ns = 0;
	snap.stats[SPACE_KERNEL].known = true;
	snap.proof = &proof;
	expect(&report, "unknown", "memleak --format verdict -K --prove -p 7 5 12");
	snap.proof = &at_end;
	expect(&report, "unknown", NULL);
	snap.stats[SPACE_KERNEL].known = false;
	snap.proof = NULL;
	snap.descriptors.are_traced = true;
	tallies[0].footprint.has_traced_children = true;
	expect(&report, "unknown", "memleak --format verdict --fds -f -p 7 5 12");
	snap.tally_cnt = 2;
	expect(&report, "unknown", NULL);
	tallies[1].footprint.is_known = false;
	expect(&report, "unknown", "memleak --format verdict --fds -f -p 7 5 12");
	tallies[0].footprint.is_known = false;
	expect(&report, "unknown", NULL);
}

/*
 * Tests what the next command traces if the report has no process, or only a pid from a recording,
 * which may belong to another process by now.
 */
static void targets(void **state)
{
	static const struct core_facts core;
	struct process_tally tally = {.process = &process, .footprint.is_known = true};
	struct snapshot snap = {0};
	struct report report = {.snapshot = &snap};

	(void)state;
	expect(&report, "early", NULL);
	snap.stats[SPACE_KERNEL].known = true;
	expect(&report, "early", "memleak --format verdict -K 5 12");
	snap.tallies = &tally;
	snap.tally_cnt = 1;
	expect(&report, "early", "memleak --format verdict -K -p 7 5 12");
	report.recorded = true;
	expect(&report, "early", NULL);
	report.recorded = false;
	snap.core = &core;
	expect(&report, "unknown", NULL);
}

/* The next command has the option that the line about untraced growth recommends. */
static void untraced(void **state)
{
	static const struct {
		enum footprint_part part;
		const char *next;
	} parts[] = {
		{FOOTPRINT_ANONYMOUS, "memleak --json --rss -p 7"},
		{FOOTPRINT_SHARED, "memleak --format verdict -K --movable -p 7 5 12"},
		{FOOTPRINT_UNMAPPED, "memleak --format verdict -K --movable -p 7 5 12"},
		{FOOTPRINT_HUGE, "memleak --format verdict -K -p 7 5 12"},
		{FOOTPRINT_DESCRIPTORS, "memleak --format verdict --fds -p 7 5 12"},
		{FOOTPRINT_CHILDREN, "memleak --format verdict -f -p 7 5 12"},
		{FOOTPRINT_THREADS, NULL},
		{FOOTPRINT_FILES, NULL},
		{FOOTPRINT_ZOMBIES, NULL},
		{FOOTPRINT_MAPPINGS, NULL},
		{FOOTPRINT_PAGE_TABLES, NULL},
		{FOOTPRINT_TIMERS, NULL},
		{FOOTPRINT_QUEUES, NULL},
	};
	struct process_tally tally = {.process = &process, .footprint.is_known = true};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	const struct rss rss = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct untraced_growth growth = {.process = &process, .part = parts[i].part};
		struct report report = {
			.snapshot = &snap, .judged = 1, .untraced = {.items = &growth, .cnt = 1}};

		expect(&report, "untraced", parts[i].next);
		report.untraced = (struct untraced_growths){.pending = growth};
		if (parts[i].next)
			expect(&report, "unknown", parts[i].next);
		report.untraced = (struct untraced_growths){.too_young = growth};
		expect(&report, "unknown", "memleak --format verdict -o 0 -p 7 5 12");
		tally.footprint.has_traced_children = true;
		expect(&report, "unknown", "memleak --format verdict -f -o 0 -p 7 5 12");
		tally.footprint.has_traced_children = false;
		report.untraced = (struct untraced_growths){.items = &growth, .cnt = 1};
		report.rss = &rss;
		if (parts[i].part == FOOTPRINT_ANONYMOUS)
			expect(&report, "untraced", NULL);
	}
}

/*
 * If no leak was found, but this run has not traced child processes, the next command traces them
 * (-f). It has this run's other options, except -K. Without child processes there is no next
 * command.
 */
static void no_leak(void **state)
{
	static const struct proof_facts proof = {.method = PROOF_CLONE};
	static const struct ended_processes ended = {.total = 2};
	struct process_tally tally = {.process = &process, .footprint.is_known = true};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	struct report report = {.snapshot = &snap, .judged = 1};

	(void)state;
	expect(&report, "clear", NULL);
	tally.footprint.parts[FOOTPRINT_CHILDREN] = 1;
	expect(&report, "clear", "memleak --format verdict -f -p 7 5 12");
	snap.descriptors.are_traced = true;
	snap.stats[SPACE_KERNEL].known = true; /* -K conflicts with -f */
	expect(&report, "clear", "memleak --format verdict --fds -f -p 7 5 12");
	snap.descriptors.are_traced = false;
	snap.proof = &proof;
	expect(&report, "clear", "memleak --format verdict --prove -f -p 7 15 2");
	snap.proof = NULL;
	tally.footprint.has_traced_children = true;
	expect(&report, "clear", NULL);
	report.ended = &ended;
	expect(&report, "ended", NULL);
	tally.footprint.is_stopped = true;
	expect(&report, "unknown", NULL);
}

/*
 * If the memory of a running process grows, the next command makes a proof (--prove), unless this
 * run has one.
 */
static void suspects(void **state)
{
	static const struct proof_facts proof;
	struct site site = {.process = &process};
	const struct report_site shown = {.site = &site};
	struct suspect suspect = {.site = &shown};
	struct process_tally tally = {.process = &process, .footprint.is_known = true};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	struct report report = {.snapshot = &snap, .suspects = &suspect, .suspect_cnt = 1};

	(void)state;
	expect(&report, "grows", "memleak --format verdict --prove -p 7 15 2");
	tally.footprint.is_known = false;
	expect(&report, "grows", NULL);
	tally.footprint.is_known = true;
	site.space = SPACE_KERNEL;
	expect(&report, "grows", NULL);
	site.space = SPACE_USER;
	snap.descriptors.are_traced = true;
	expect(&report, "grows", NULL);
	snap.descriptors.are_traced = false;
	snap.proof = &proof;
	expect(&report, "grows", NULL);
	report.loss_cnt = 1;
	expect(&report, "lost", NULL);
}

/* Suspects and losses in several functions, each of which has the name `symbol` */
struct findings {
	uint64_t frames[1];
	struct sym_frame functions[2 * MOST];
	struct sym_location locations[2 * MOST];
	const struct sym_location *located[2 * MOST];
	struct site sites[2 * MOST];
	struct site_history history;
	struct report_site shown[2 * MOST];
	struct suspect suspects[MOST];
	struct proven_loss losses[MOST];
};

static void fill(struct findings *all, const char *symbol, const char *file)
{
	all->history.trend =
		(struct trend){.tendency = TENDENCY_STEADY,
			       .score = {.total = 0.75, .older_ns = 4},
			       .reasons = {.confidence = 0.99, .rises = 6, .lately = 0.5}};
	for (size_t i = 0; i < 2 * MOST; i++) {
		all->functions[i] = (struct sym_frame){
			.symbol = symbol, .file = file, .line = (unsigned int)i + 1};
		all->locations[i] = (struct sym_location){
			.module = "/srv/app", .frame_cnt = 1, .frames = &all->functions[i]};
		all->located[i] = &all->locations[i];
		all->sites[i] = (struct site){.id = i,
					      .process = &process,
					      .tid = (pid_t)i,
					      .frames = all->frames,
					      .frame_cnt = 1};
		all->shown[i] = (struct report_site){.site = &all->sites[i],
						     .locations = &all->located[i],
						     .history = &all->history};
	}
	for (size_t i = 0; i < MOST; i++) {
		all->suspects[i] = (struct suspect){.site = &all->shown[i],
						    .path_cnt = 3,
						    .process_cnt = 1,
						    .bytes_per_s = 700,
						    .seen = 60,
						    .freed = 2,
						    .since_ns = 9};
		all->losses[i] = (struct proven_loss){.site = &all->shown[MOST + i],
						      .path_cnt = 3,
						      .process_cnt = 1,
						      .lost = {40, 2},
						      .hanging = {50, 1},
						      .for_ns = 8};
	}
}

static char *line_of(const struct report *report)
{
	char *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	assert_non_null(out);
	assert_int_equal(sink_verdict.report(out, report), 0);
	fclose(out);
	assert_true(json_lines_are_valid(line));
	return line;
}

static void evidence(void **state)
{
	static struct findings all;
	const struct snapshot snap = {0};
	struct report report = {.snapshot = &snap, .suspects = all.suspects, .suspect_cnt = 1};
	cleanup_free char *grows = NULL, *lost = NULL;

	(void)state;
	fill(&all, "keep", "/srv/a.c");
	grows = line_of(&report);
	assert_non_null(strstr(grows, "\"level\":\"medium\""));
	assert_non_null(strstr(grows,
			       "\"evidence\":{\"since_ns\":9,\"score\":0.75,"
			       "\"confidence\":0.99,\"rises\":6,\"paths\":3},"
			       "\"counter_evidence\":{\"seen\":60,\"freed\":2,\"older_ns\":4,"
			       "\"recent_rate\":0.5}}"));
	report.losses = all.losses;
	report.loss_cnt = 1;
	lost = line_of(&report);
	assert_non_null(strstr(lost, "\"level\":\"high\""));
	assert_non_null(strstr(lost, "\"next\":null"));
	assert_non_null(strstr(lost, "\"evidence\":{\"lost\":{\"bytes\":40,\"count\":2},"
				     "\"lost_with_them\":{\"bytes\":50,\"count\":1},"
				     "\"lost_for_ns\":8,\"paths\":3}}"));
}

/* If the function of a chunk pool is not known, its caller is not blamed. */
static void unknown_pool(void **state)
{
	static struct findings all;
	const struct snapshot snap = {0};
	const struct report report = {
		.snapshot = &snap, .suspects = all.suspects, .suspect_cnt = 1};
	cleanup_free char *known = NULL, *unknown = NULL;

	(void)state;
	fill(&all, "on_read", NULL);
	all.shown[0].chunks = (struct chunks){32768, 6, POOL_INLINED};
	known = line_of(&report);
	assert_non_null(strstr(known, "\"function\":\"on_read\""));
	all.shown[0].chunks.function = POOL_UNKNOWN;
	unknown = line_of(&report);
	assert_non_null(strstr(unknown, "\"function\":null"));
	assert_non_null(strstr(unknown, "such as on_read"));
}

/* With many findings and long names, the line is at most 3 KiB long. */
static void short_line(void **state)
{
	static struct findings all;
	static char symbol[4000], file[4000];
	struct process_tally tally = {.process = &process, .footprint.is_known = true};
	struct snapshot snap = {.tallies = &tally, .tally_cnt = 1};
	struct report report = {.snapshot = &snap, .suspects = all.suspects, .suspect_cnt = MOST};

	(void)state;
	for (size_t len = 1; len < sizeof(symbol); len *= 2) {
		cleanup_free char *grows = NULL, *lost = NULL;

		/* When escaped, each byte of the name becomes six characters. */
		memset(symbol, '\1', len);
		for (size_t i = 0; i + 5 < len; i += 2)
			memcpy(file + i, "/d/a.c", 7);
		fill(&all, symbol, file);
		report.loss_cnt = 0;
		grows = line_of(&report);
		assert_in_range(strlen(grows), 1, 3072);
		assert_non_null(strstr(grows, "\"verdict\":\"grows\",\"level\":\"medium\""));
		assert_non_null(strstr(grows, "\"next\":\"memleak --format verdict --prove -p 7"));
		assert_non_null(strstr(grows, "\"counter_evidence\":"));
		report.losses = all.losses;
		report.loss_cnt = MOST;
		lost = line_of(&report);
		assert_in_range(strlen(lost), 1, 3072);
		assert_non_null(strstr(lost, "\"verdict\":\"lost\",\"level\":\"high\""));
		assert_non_null(strstr(lost, "\"next\":null"));
		assert_non_null(strstr(lost, "\"evidence\":"));
		if (len >= 1024)
			assert_non_null(strstr(lost, "\"file\":\"a.c\""));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longer_runs),  cmocka_unit_test(targets),
		cmocka_unit_test(untraced),     cmocka_unit_test(no_leak),
		cmocka_unit_test(suspects),     cmocka_unit_test(evidence),
		cmocka_unit_test(unknown_pool), cmocka_unit_test(short_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
