// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Passes snapshots through the ranking, the report and each sink, and compares the output byte by
 * byte with tests/golden/. Run from the root of the source. After an intended change of a format
 *
 *     GOLDEN_UPDATE=1 build/tests/unit/sinks/test_golden
 *
 * rewrites the expected files. Check the diff before committing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/grouping.h"
#include "report/naming.h"
#include "report/snapshot_own.h"
#include "report/thread_split.h"
#include "sinks/sink.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/json_check.h"
#include "tests/unit/lib/page.h"
#include "tests/unit/lib/past.h"
#include "tests/unit/lib/scenes.h"

/* Copies a snapshot to one that owns its data, as in a real run. */
static void copy_snapshot(const struct snapshot *snap, struct snapshot *ret)
{
	*ret = *snap;
	ret->sites = calloc(snap->site_cnt + 1, sizeof(*ret->sites));
	ret->blocks = calloc(snap->block_cnt + 1, sizeof(*ret->blocks));
	ret->summaries = calloc(snap->summary_cnt + 1, sizeof(*ret->summaries));
	ret->tallies = calloc(snap->tally_cnt + 1, sizeof(*ret->tallies));
	assert_non_null(ret->sites);
	assert_non_null(ret->blocks);
	assert_non_null(ret->summaries);
	assert_non_null(ret->tallies);
	for (size_t i = 0; i < snap->site_cnt; i++)
		ret->sites[i] = snap->sites[i];
	for (size_t i = 0; i < snap->block_cnt; i++)
		ret->blocks[i] = snap->blocks[i];
	for (size_t i = 0; i < snap->summary_cnt; i++)
		ret->summaries[i] = snap->summaries[i];
	for (size_t i = 0; i < snap->tally_cnt; i++)
		ret->tallies[i] = snap->tallies[i];
	assert_int_equal(snapshot_own(ret), 0);
}

static struct snapshot sums_of(const struct grouping *grouping)
{
	return (struct snapshot){.sites = grouping->sums, .site_cnt = grouping->cnt};
}

static struct past group_past_of(const struct scene *scene, const struct grouping *grouping,
				 struct symbol_backend *symbols)
{
	struct snapshot sums = sums_of(grouping), sums_before;
	struct grouping before;
	struct past past;

	if (!scene->before)
		return past_of(NULL, &sums, 0);
	assert_int_equal(grouping_init(scene->opts.by, scene->before, symbols, &before), 0);
	sums_before = sums_of(&before);
	past = past_of(&sums_before, &sums, 0);
	grouping_deinit(&before);
	return past;
}

static void name_thread(struct report *report, pid_t tid, const char *name)
{
	for (size_t i = 0; i < report->group_cnt; i++)
		if (report->groups[i].sum->tid == tid)
			report->groups[i].thread = strdup(name);
}

static void write_report(FILE *out, const struct scene *scene, const struct snapshot *snap,
			 const struct sink *sink)
{
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	struct past past = past_of(scene->before, snap, scene->growing), group_past;
	struct grouping grouping;
	struct report report;

	if (scene->opts.by == BY_STACK) {
		assert_int_equal(report_init(&scene->opts, snap, past.growth, &symbols.backend,
					     UINT64_MAX, scene->final, &report),
				 0);
		report.ended = scene->ended;
		report.watched = scene->watched;
		report.rows = scene->rows;
		report.columns = 80;
		sink->report(out, &report);
		report_deinit(&report);
		past_deinit(&past);
		return;
	}
	assert_int_equal(grouping_init(scene->opts.by, snap, &symbols.backend, &grouping), 0);
	group_past = group_past_of(scene, &grouping, &symbols.backend);
	assert_int_equal(report_init_groups(&scene->opts, snap, past.growth, &grouping,
					    group_past.growth, NULL, &symbols.backend, UINT64_MAX,
					    scene->final, &report),
			 0);
	name_thread(&report, 4712, "work\x1b[2J\xff)");
	sink->report(out, &report);
	report_deinit(&report);
	grouping_deinit(&grouping);
	past_deinit(&group_past);
	past_deinit(&past);
}

static char *print_report(const struct scene *scene, const struct sink *sink)
{
	struct snapshot_view view;
	struct snapshot snap;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	copy_snapshot(&scene->snap, &snap);
	view = snapshot_view_of(&snap);
	if (scene->opts.by == BY_THREAD)
		assert_int_equal(thread_split(&view, 0, scene->opts.show_allocs), 0);
	write_report(out, scene, &view.snap, sink);
	snapshot_view_deinit(&view);
	fclose(out);
	assert_int_equal(strlen(text), len);
	snapshot_deinit(&snap);
	return text;
}

static void reports_as_text(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *text = print_report(&scenes[i], sink_for(FORMAT_TEXT));

		check_text(text);
		compare(scenes[i].name, "txt", text);
	}
}

/* Counts the lines that give a verdict on the whole report. */
static size_t verdict_cnt(const char *text)
{
	static const char *const beginnings[] = {
		"\u2717 a leak is proven: ",
		"\u25b2 a leak is likely: ",
		"\u25b2 something grows that is not traced\n",
		"\u25b2 there are more and more child processes\n",
		"? no leak found yet, ",
		"? no leak found, but not all growth can be judged",
		"? nothing can be judged: ",
		"? too early to say what grows: ",
		"? nothing grows steadily; ",
		"= nothing seems to leak: ",
		"= no descriptor seems to leak: ",
	};
	size_t cnt = 0;

	for (const char *at = text; *at; at = strchrnul(at, '\n') + 1)
		for (size_t i = 0; i < LENGTH(beginnings); i++)
			cnt += !strncmp(at, beginnings[i], strlen(beginnings[i]));
	return cnt;
}

/*
 * Every report has one verdict, except for core files without proven leaks: at one point in time,
 * growth cannot be judged.
 */
static void one_verdict(void **state)
{
	static const char *const not_judged[] = {"census-core", "core-of-nothing"};

	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *text = print_report(&scenes[i], sink_for(FORMAT_TEXT));
		size_t expected = 1, cnt = verdict_cnt(text);

		for (size_t j = 0; j < LENGTH(not_judged); j++)
			expected -= !strcmp(scenes[i].name, not_judged[j]);
		if (cnt != expected)
			fail_msg("%s has %zu verdicts: %s", scenes[i].name, cnt, text);
	}
}

/* Prints reports in bcc's format, which scripts read. */
static void reports_as_bcc(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *text = print_report(&scenes[i], sink_for(FORMAT_BCC));

		check_text(text);
		compare(scenes[i].name, "bcc", text);
	}
}

static void reports_as_json(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *text = print_report(&scenes[i], sink_for(FORMAT_JSON));

		if (!json_lines_are_valid(text))
			fail_msg("%s: not JSON: %s", scenes[i].name, text);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		compare(scenes[i].name, "json", text);
	}
}

/* The verdict of every scene fits into 3 KiB. */
static void reports_as_verdicts(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *text = print_report(&scenes[i], sink_for(FORMAT_VERDICT));

		if (!json_lines_are_valid(text))
			fail_msg("%s: not JSON: %s", scenes[i].name, text);
		assert_in_range(strlen(text), 1, 3072);
		if (!strncmp(scenes[i].name, "suspects", 8) ||
		    !strncmp(scenes[i].name, "prove", 5) || !strcmp(scenes[i].name, "hostile"))
			compare(scenes[i].name, "verdict", text);
	}
}

/* Every scene can be written as an HTML report. For the contents see test_html.c. */
static void reports_as_pages(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++) {
		cleanup_free char *page = print_report(&scenes[i], sink_for(FORMAT_HTML));

		if (!strcmp(scenes[i].name, "peak") || !strcmp(scenes[i].name, "blocks"))
			compare_page(scenes[i].name, page);
		else
			check_page(page);
	}
}

static const struct trace_event events[] = {
	{WALL_NS, false, 4711, 4711, "leak", "malloc", 0x55d0c3a2b2a0, 16, NULL},
	{WALL_NS + 1000000, true, 4711, 4712, "leak", "free", 0x55d0c3a2b2a0, 16, NULL},
	{WALL_NS + 877000000, true, 4711, 4712, "leak", "free", 0x10, SIZE_UNKNOWN, NULL},
	{WALL_NS, false, 4711, 4711, "a b", NULL, UINT64_MAX, 0, NULL},
	{WALL_NS, false, 1, 2147483647, "\x1b[2J\xff\n", "new\r\xe2\x80\xae", 0, 1ULL << 41, NULL},
	{WALL_NS, false, 1, 1, NULL, "operator new(unsigned long)", 1, 1, NULL},
};

static char *print_events(const struct sink *sink)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < LENGTH(events); i++)
		sink->event(out, &events[i]);
	fclose(out);
	return text;
}

static void events_as_text(void **state)
{
	cleanup_free char *text = print_events(sink_for(FORMAT_TEXT));

	check_text(text);
	compare("events", "txt", text);
}

static void events_as_json(void **state)
{
	cleanup_free char *text = print_events(sink_for(FORMAT_JSON));

	assert_true(json_lines_are_valid(text));
	compare("events", "json", text);
}

/* Prints trace events with stacks (-tt): complete, truncated, hostile and missing ones. */
static char *print_event_stacks(const struct sink *sink)
{
	static const struct site sites[] = {
		{.process = &leak, STACK(small_stack), .end = STACK_END_COMPLETE},
		{.process = &leak, STACK(cxx_stack), .end = STACK_END_NO_RULE},
		{.process = &leak, STACK(hostile_stack), .end = STACK_END_COMPLETE},
		{.process = NULL},
	};
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < LENGTH(sites); i++) {
		const struct sym_location *locations[LENGTH(small_stack)];
		struct report_site shown = {.site = &sites[i], .locations = locations};
		struct trace_event event = events[i];

		_Static_assert(LENGTH(cxx_stack) <= LENGTH(small_stack), "room for each stack");
		_Static_assert(LENGTH(hostile_stack) <= LENGTH(small_stack), "room for each stack");
		report_site_name(NULL, &symbols.backend, NULL, &shown);
		event.stack = &shown;
		sink->event(out, &event);
	}
	fclose(out);
	return text;
}

static void event_stacks_as_text(void **state)
{
	cleanup_free char *text = print_event_stacks(sink_for(FORMAT_TEXT));

	check_text(text);
	compare("event-stacks", "txt", text);
}

static void event_stacks_as_json(void **state)
{
	cleanup_free char *text = print_event_stacks(sink_for(FORMAT_JSON));

	assert_true(json_lines_are_valid(text));
	compare("event-stacks", "json", text);
}

static struct count_row cgroup_rows[] = {
	{.key = 7,
	 .name = (char *)"/a\x1b[2J/\xff",
	 .calls = 10,
	 .bytes = 1000,
	 .total_calls = 20,
	 .total_bytes = UINT64_MAX},
	{.key = 9, .calls = 30, .total_calls = 30},
	{.key = 11, .name = (char *)"/quiet", .total_calls = 5, .total_bytes = 5},
	{.key = COUNT_OTHERS, .calls = 1, .bytes = 1, .total_calls = 1, .total_bytes = 1},
};
static struct count_row process_rows[] = {
	{.key = 4711,
	 .name = (char *)"leak",
	 .calls = 12,
	 .bytes = 5,
	 .total_calls = 12,
	 .total_bytes = 5},
	{.key = 4712, .calls = 13, .total_calls = 13},
};
static const struct counts all_counts[] = {
	{COUNT_BY_CGROUP, 2000000000, cgroup_rows, LENGTH(cgroup_rows), 0, 0},
	{COUNT_BY_PROCESS, 0, process_rows, LENGTH(process_rows), 100, 1000},
	{COUNT_BY_FUNCTION, 1, NULL, 0, 0, 0},
};

static char *print_counts(const struct sink *sink)
{
	const struct options opts = {.top = 10, .max_records = 2};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	for (size_t i = 0; i < LENGTH(all_counts); i++) {
		struct snapshot snap = SNAPSHOT_OF(NULL, 0, .counts = &all_counts[i]);
		struct counts_report report;

		snap.lost[LOSS_RECURSION] = i;
		assert_int_equal(counts_report_init(&opts, &snap, i == 2, &report), 0);
		sink->counts(out, &report);
		counts_report_deinit(&report);
	}
	fclose(out);
	return text;
}

static void counts_as_text(void **state)
{
	cleanup_free char *text = print_counts(sink_for(FORMAT_TEXT));

	check_text(text);
	compare("counts", "txt", text);
}

static void counts_as_json(void **state)
{
	cleanup_free char *text = print_counts(sink_for(FORMAT_JSON));

	assert_true(json_lines_are_valid(text));
	compare("counts", "json", text);
}

/* Every kind of loss has all its texts, and a key that no other kind has. */
static void losses_have_words(void **state)
{
	for (size_t i = 0; i < LOSS_CNT; i++) {
		assert_non_null(lost_texts[i].key);
		assert_non_null(lost_texts[i].one);
		assert_non_null(lost_texts[i].many);
		assert_non_null(lost_texts[i].how);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(lost_texts[i].key, lost_texts[j].key);
	}
}

/* A report's time may be beyond the calendar, for instance in the year 1 million. */
static void odd_times(void **state)
{
	static const int64_t times[] = {0, -1, -1123456789, INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < LENGTH(times); i++) {
		struct scene scene = {.opts.top = 10, .snap = {.wall_ns = times[i]}};
		cleanup_free char *json = print_report(&scene, sink_for(FORMAT_JSON));
		cleanup_free char *text = print_report(&scene, sink_for(FORMAT_TEXT));

		assert_true(json_lines_are_valid(json));
		check_text(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_as_text),      cmocka_unit_test(one_verdict),
		cmocka_unit_test(reports_as_bcc),       cmocka_unit_test(reports_as_json),
		cmocka_unit_test(reports_as_verdicts),  cmocka_unit_test(reports_as_pages),
		cmocka_unit_test(events_as_text),       cmocka_unit_test(events_as_json),
		cmocka_unit_test(event_stacks_as_text), cmocka_unit_test(event_stacks_as_json),
		cmocka_unit_test(counts_as_text),       cmocka_unit_test(counts_as_json),
		cmocka_unit_test(losses_have_words),    cmocka_unit_test(odd_times),
	};

	/* Text has local time, and JSON has UTC: use a time zone an hour away from UTC. */
	setenv("TZ", "TST-1", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
