// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests reports in the format of metrics. Some are compared with golden files, and all are checked
 * by a strict parser of the format.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "metrics/metrics.h"
#include "metrics/text.h"
#include "report/grouping.h"
#include "report/python_growth.h"
#include "report/runtime_objects.h"
#include "report/thread_split.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/scenes.h"

static const struct own_cost own = {.cpu_seconds = 1.25, .resident_bytes = 58605568, .reports = 3};

/* Strict parser of the exposition format. */
struct reader {
	bool open_metrics;
	char family[128]; /* name that samples of the current metric family have */
	const char *series[4096];
	size_t series_cnt;
};

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static const char *skip_name(const char *at)
{
	assert_true(is_name_character(*at) && !(*at >= '0' && *at <= '9'));
	while (is_name_character(*at))
		at++;
	return at;
}

/* Skips a quoted label value, with escaped backslashes, quotes and newlines. */
static const char *skip_value(const char *at)
{
	assert_int_equal(*at++, '"');
	while (*at != '"') {
		assert_true(*at);
		if (*at == '\\' && !strchr("\\\"n", *++at))
			fail_msg("bad escape: %s", at);
		at++;
	}
	return at + 1;
}

static const char *skip_labels(const char *at)
{
	if (*at != '{')
		return at;
	do {
		at = skip_name(at + 1);
		assert_int_equal(*at, '=');
		at = skip_value(at + 1);
	} while (*at == ',');
	assert_int_equal(*at, '}');
	return at + 1;
}

static void read_sample(struct reader *reader, char *line)
{
	char *end = (char *)skip_name(line);
	char *rest;

	assert_int_equal(end - line, strlen(reader->family));
	assert_memory_equal(line, reader->family, (size_t)(end - line));
	end = (char *)skip_labels(end);
	assert_int_equal(*end, ' ');
	*end = '\0';
	for (size_t i = 0; i < reader->series_cnt; i++)
		if (!strcmp(reader->series[i], line))
			fail_msg("duplicate series: %s", line);
	assert_true(reader->series_cnt < LENGTH(reader->series));
	reader->series[reader->series_cnt++] = line;
	strtod(end + 1, &rest);
	assert_true(rest > end + 1 && !*rest);
}

/* OpenMetrics declares counters without their suffix "_total". */
static void read_type(struct reader *reader, const char *line)
{
	char type[16];

	assert_int_equal(sscanf(line, "# TYPE %100s %15s", reader->family, type), 2);
	if (!strcmp(type, "counter") && reader->open_metrics)
		strcat(reader->family, "_total");
	else if (!strcmp(type, "counter"))
		assert_non_null(strstr(reader->family, "_total"));
	else
		assert_string_equal(type, "gauge");
}

static void check_characters(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t character;
		size_t len = utf8_decode(text, left, &character);

		assert_true(len > 0 && (character == '\n' || is_plain_character(character)));
		text += len;
		left -= len;
	}
}

static void read_metrics(const char *text, bool open_metrics)
{
	struct reader reader = {.open_metrics = open_metrics};
	cleanup_free char *copy = strdup(text);
	char *next = copy, *line;
	bool ended = false;

	check_characters(text);
	while ((line = strsep(&next, "\n")) && next) {
		assert_false(ended);
		if (!strncmp(line, "# TYPE ", 7))
			read_type(&reader, line);
		else if (!strcmp(line, "# EOF"))
			ended = true;
		else if (*line != '#')
			read_sample(&reader, line);
	}
	assert_string_equal(line, "");
	assert_int_equal(ended, open_metrics);
	assert_true(reader.series_cnt > 0);
}

static char *print(const struct metrics *metrics, bool open_metrics)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(metrics_write(out, metrics, open_metrics), 0);
	fclose(out);
	assert_int_equal(strlen(text), len);
	read_metrics(text, open_metrics);
	return text;
}

/*
 * Checks both formats (Prometheus and OpenMetrics). If `name` is not NULL, compares them with the
 * golden files of that name.
 */
static void check(const char *name, const struct metrics *metrics)
{
	cleanup_free char *open_metrics = print(metrics, true);
	cleanup_free char *prometheus = print(metrics, false);

	if (!name)
		return;
	compare(name, "openmetrics", open_metrics);
	compare(name, "prom", prometheus);
}

static const struct site_history grows = {
	.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 20971.5, .score.total = 0.75}};
static const struct site_history unknown = {
	.trend = {.tendency = TENDENCY_UNKNOWN, .bytes_per_s = NAN}};

static void check_scene(const char *name, const struct scene *scene, const struct snapshot *snap)
{
	struct fake_symbols symbols = fake_symbols_of(known_locations, LENGTH(known_locations));
	struct growth growth[16] = {{.history = &grows}, {.history = &unknown}};
	struct grouping grouping;
	struct report report;
	const struct metrics metrics = {.report = &report, .own = &own};

	if (scene->opts.by == BY_STACK) {
		assert_int_equal(report_init(&scene->opts, snap, growth, &symbols.backend,
					     UINT64_MAX, false, &report),
				 0);
	} else {
		assert_int_equal(grouping_init(scene->opts.by, snap, &symbols.backend, &grouping),
				 0);
		assert_int_equal(report_init_groups(&scene->opts, snap, growth, &grouping, growth,
						    NULL, &symbols.backend, UINT64_MAX, false,
						    &report),
				 0);
	}
	check(name, &metrics);
	report_deinit(&report);
	if (scene->opts.by != BY_STACK)
		grouping_deinit(&grouping);
}

/* Every scene must give valid metrics. */
static void every_scene(void **state)
{
	for (size_t i = 0; i < scene_cnt; i++)
		if (scenes[i].opts.by != BY_THREAD)
			check_scene(NULL, &scenes[i], &scenes[i].snap);
}

static void threads(void **state)
{
	const struct scene scene = {.opts = {.top = 10, .by = BY_THREAD}};
	struct snapshot snap = {0};
	struct snapshot_view view;

	snap.sites = calloc(LENGTH(thread_sites), sizeof(*snap.sites));
	snap.blocks = calloc(LENGTH(thread_blocks), sizeof(*snap.blocks));
	assert_true(snap.sites && snap.blocks);
	for (size_t i = 0; i < LENGTH(thread_sites); i++)
		snap.sites[i] = thread_sites[i];
	for (size_t i = 0; i < LENGTH(thread_blocks); i++)
		snap.blocks[i] = thread_blocks[i];
	snap.site_cnt = LENGTH(thread_sites);
	snap.block_cnt = LENGTH(thread_blocks);
	view = snapshot_view_of(&snap);
	assert_int_equal(thread_split(&view, 0, false), 0);
	check_scene("metrics-by-thread", &scene, &view.snap);
	snapshot_view_deinit(&view);
	snapshot_deinit(&snap);
}

/*
 * Tests names that contain quotes, line ends or control characters, and the row that sums up all
 * sites without a row of their own.
 */
static void sites(void **state)
{
	static struct site all[] = {
		{.id = 1, .process = &hostile, .bytes = 800, .count = 5, STACK(hostile_stack)},
		BIG,
		{.id = 3, .process = &leak, .bytes = 70, .count = 7, STACK(odd_stack)},
		{.id = 4, .process = &leak, .bytes = 60, .count = 6},
		{.id = 5,
		 .space = SPACE_KERNEL,
		 .kind = KIND_SLAB,
		 .bytes = 500,
		 .count = 5,
		 .origin.cache = "kmalloc-64\"\n"},
	};
	const struct scene scene = {
		.opts.top = 4,
		.snap = SNAPSHOT(
			all, .sampling = {SAMPLING_COUNT, 10},
			.cost = {.most_share = 0.03, .sample_bytes = 65536},
			.stats = {[SPACE_USER] =
					  {.known = true,
					   .calls_of = {[FAMILY_MALLOC] = 9, [FAMILY_FREE] = 5}},
				  [SPACE_KERNEL] = {.known = true, .calls = 77}},
			.lost = {[LOSS_UNWIND] = UINT64_MAX})};

	check_scene("metrics-sites", &scene, &scene.snap);
}

/*
 * Tests the metrics of lost blocks (one for each row that the proof covers, and one for all other
 * rows together), of the heap, and of the parts of resident memory, for one process and for
 * several.
 */
static void proofs(void **state)
{
	static struct process_tally tally = {.process = &leak,
					     .rss.parts = {[RSS_LIVE] = 1000,
							   [RSS_PINNED] = 2000,
							   [RSS_TRIMMABLE] = 3000,
							   [RSS_TOP] = 4000,
							   [RSS_MAPPED] = 5000,
							   [RSS_STACKS] = 6000,
							   [RSS_FILES] = 7000,
							   [RSS_SHARED] = 8000,
							   [RSS_OTHER] = 9000}};
	const struct scene by_stack = {.opts.top = 4,
				       .snap = SNAPSHOT(proved_sites, .proof = &proof_still)};
	static const struct process second = {.image = 9, .pid = 9, .comm = "second"};
	static struct process_tally several[] = {
		{.process = &leak, .footprint.is_known = true, .rss.parts = {[RSS_LIVE] = 1000}},
		{.process = &second, .footprint.is_known = true, .rss.parts = {[RSS_TOP] = 2000}}};
	const struct scene by_process = {.opts = {.top = 1, .by = BY_PROCESS},
					 .snap = SNAPSHOT(proved_sites, .proof = &proof_still,
							  .tallies = several, .tally_cnt = 2)};
	const struct scene with_census = {.opts.top = 1,
					  .snap = SNAPSHOT(proved_sites, .proof = &proof_still,
							   .census = &census_of_one,
							   .tallies = &tally, .tally_cnt = 1)};

	check_scene("metrics-prove", &by_stack, &by_stack.snap);
	check_scene("metrics-census", &with_census, &with_census.snap);
	check_scene("metrics-prove-by-process", &by_process, &by_process.snap);
}

static void cgroups(void **state)
{
	const struct scene scene = {.opts = {.top = 1, .by = BY_CGROUP},
				    .snap = SNAPSHOT(group_sites)};

	check_scene("metrics-by-cgroup", &scene, &scene.snap);
}

/*
 * Tests suspects, one of which consists of a language runtime's objects, and one of which is a pool
 * of an unknown function; also growing Python classes and containers, two of which have the same
 * name.
 */
static void verdicts(void **state)
{
	static const struct sym_frame frame = {
		.symbol = "Keep<7>::put", .file = "/srv/a.c", .line = 7};
	static const struct sym_location location = {
		.module = "/srv/a", .frame_cnt = 1, .frames = &frame};
	static const struct sym_location *locations[] = {&location};
	static const struct runtime_objects objects = {.words = "python objects"};
	static const struct python_growth python = {
		.classes = {{"E\x01", 30, 3, 90, 1, {.line = 0}},
			    {"Node", 20, 3, 60, 1, {.line = 0}},
			    {"E\xff", 5, 3, 30, 1, {.line = 0}}},
		.class_cnt = 3,
		.containers =
			{{PYTHON_VARIABLE, "Store.items", "list", 900, 600, 1, 0, 0, {.line = 0}},
			 {PYTHON_VARIABLE, "Store.items", "list", 100, 60, 1, 0, 0, {.line = 0}}},
		.container_cnt = 2};
	const uint64_t frames[] = {1};
	const struct site sites[] = {{.id = 1, .process = &leak, .frames = frames, .frame_cnt = 1},
				     {.id = 2, .process = &leak, .frames = frames, .frame_cnt = 1},
				     {.id = 3, .process = &leak, .frames = frames, .frame_cnt = 1}};
	const struct site_history history = {.trend = {.tendency = TENDENCY_STEADY}};
	const struct report_site shown[] = {
		{.site = &sites[0], .history = &history, .locations = locations},
		{.site = &sites[1],
		 .history = &history,
		 .locations = locations,
		 .objects = &objects,
		 .in_pool = true},
		{.site = &sites[2],
		 .history = &history,
		 .locations = locations,
		 .common_callers = CALLERS_NONE,
		 .chunks = {32768, 6, POOL_UNKNOWN}}};
	struct suspect suspects[] = {
		{.site = &shown[0], .path_cnt = 90, .has_instances = true, .bytes_per_s = 2048},
		{.site = &shown[1], .path_cnt = 1, .bytes_per_s = 1024},
		{.site = &shown[2], .path_cnt = 6, .bytes_per_s = 512}};
	const struct snapshot snap = {.python = &python};
	const struct report report = {
		.snapshot = &snap, .suspects = suspects, .suspect_cnt = LENGTH(suspects)};
	const struct metrics metrics = {.report = &report, .own = &own};

	check("metrics-verdict", &metrics);
}

static void before_a_report(void **state)
{
	const struct metrics metrics = {.own = &own};

	check("metrics-none", &metrics);
}

static struct count_row rows[] = {
	{.key = 7, .name = (char *)"/a\"\x1b/\xff", .total_calls = 20, .total_bytes = UINT64_MAX},
	{.key = 9, .calls = 30, .total_calls = 30, .total_bytes = 300},
	{.key = 11, .name = (char *)"/quiet", .total_calls = 40, .total_bytes = 5},
	{.key = COUNT_OTHERS, .calls = 1, .total_calls = 25, .total_bytes = 1},
};

/*
 * The rows with the most calls since tracing began are printed, even if they have no calls in this
 * interval.
 */
static void counts(void **state)
{
	static const enum count_by ways[] = {COUNT_BY_CGROUP, COUNT_BY_PROCESS};

	for (size_t i = 0; i < LENGTH(ways); i++) {
		const struct counts all = {ways[i], 2000000000, rows, LENGTH(rows), 100, 1000};
		const struct snapshot snap = SNAPSHOT_OF(NULL, 0, .counts = &all);
		const struct options opts = {.top = 10};
		struct counts_report report;
		const struct metrics metrics = {.counts = &report, .top = 3, .own = &own};

		assert_int_equal(counts_report_init(&opts, &snap, false, &report), 0);
		check(i ? NULL : "metrics-counts", &metrics);
		counts_report_deinit(&report);
	}
}

static size_t count_lines(const char *text, const char *start)
{
	size_t cnt = 0;

	for (const char *at = text; (at = strstr(at, start)); at++)
		cnt += at == text || at[-1] == '\n';
	return cnt;
}

/* At most 1,000 rows are printed, whatever limit is requested. */
static void many_counts(void **state)
{
	static struct count_row many[1500];
	const struct counts all = {COUNT_BY_PROCESS, 0, many, LENGTH(many), 1, 1};
	const struct snapshot snap = SNAPSHOT_OF(NULL, 0, .counts = &all);
	const struct options opts = {.top = 10};
	struct counts_report report;
	const struct metrics metrics = {.counts = &report, .top = SIZE_MAX, .own = &own};
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < LENGTH(many); i++)
		many[i] = (struct count_row){.key = i + 1, .total_calls = i + 1, .total_bytes = 1};
	assert_int_equal(counts_report_init(&opts, &snap, false, &report), 0);
	text = print(&metrics, true);
	counts_report_deinit(&report);
	assert_int_equal(count_lines(text, "memleak_calls_total{"), 1000);
	assert_int_equal(count_lines(text, "memleak_requested_bytes_total{"), 1000);
	assert_non_null(strstr(text, "pid=\"1500\""));
	assert_null(strstr(text, "pid=\"500\""));
}

static void odd_values(void **state)
{
	static const struct metric_family family = {"x", METRIC_GAUGE, NULL, "Odd."};
	static const double values[] = {NAN, INFINITY, -INFINITY, 0.1, -1e300, 1795206601.123};
	cleanup_free char *text = NULL;
	cleanup_free char *name = malloc(100001);
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct metrics_text metrics;

	assert_non_null(name);
	memset(name, 'n', 100000);
	memcpy(name + 511, "\xc3\xa4", 2);
	name[100000] = '\0';
	metrics_text_init(&metrics, out, false);
	metrics_family(&metrics, &family);
	for (size_t i = 0; i < LENGTH(values); i++) {
		metrics_begin(&metrics);
		metrics_label_of(&metrics, "at", "%zu", i);
		metrics_double(&metrics, values[i]);
	}
	metrics_begin(&metrics);
	metrics_label(&metrics, "long", name);
	metrics_unsigned(&metrics, UINT64_MAX);
	fclose(out);
	read_metrics(text, false);
	assert_non_null(strstr(text, "{at=\"0\"} NaN\nx{at=\"1\"} +Inf\nx{at=\"2\"} -Inf\n"));
	assert_non_null(strstr(text, "x{at=\"3\"} 0.1\nx{at=\"4\"} -1e+300\n"));
	assert_non_null(strstr(text, "x{at=\"5\"} 1795206601.123\n"));
	assert_non_null(strstr(text, "n\xc3\xa4...\"} 18446744073709551615\n"));
	assert_true(len < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scene),     cmocka_unit_test(threads),
		cmocka_unit_test(sites),           cmocka_unit_test(proofs),
		cmocka_unit_test(cgroups),         cmocka_unit_test(verdicts),
		cmocka_unit_test(before_a_report), cmocka_unit_test(counts),
		cmocka_unit_test(many_counts),     cmocka_unit_test(odd_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
