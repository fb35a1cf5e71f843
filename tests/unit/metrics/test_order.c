// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that all formats have the same order: suspects, the worst one first, then the other sites
 * in the order of --sort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "metrics/metrics.h"
#include "sinks/sink.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/sinks/profile_dump.h"

/*
 * Each site has one frame, in the function fn_x, where x is the letter of the site. The letters
 * stand for big, cache, fast, kernel, slow and tiny.
 */
static const char letters[] = "bcfkst";

#define NAME(letter) ONE(.symbol = "fn_" letter, .file = "x.c", .line = 1)
static const struct sym_location locations[] = {
	{.addr = 0xb0, PROGRAM, NAME("b")}, {.addr = 0xc0, PROGRAM, NAME("c")},
	{.addr = 0xf0, PROGRAM, NAME("f")}, {.addr = 0xd0, PROGRAM, NAME("k")},
	{.addr = 0xe0, PROGRAM, NAME("s")}, {.addr = 0xa0, PROGRAM, NAME("t")},
};

#define SITE(number, ...)                                                                          \
	{                                                                                          \
		.id = 0xabcd000 + (number), .frames = &locations[number].addr, .frame_cnt = 1,     \
		__VA_ARGS__                                                                        \
	}
static struct site sites[] = {
	SITE(0, .process = &leak, .bytes = 9000000, .count = 2),
	SITE(1, .process = &leak, .bytes = 5000000, .count = 3),
	SITE(2, .process = &leak, .bytes = 200000, .count = 4),
	SITE(3, .space = SPACE_KERNEL, .bytes = 50000000, .count = 9, .origin.reclaimable = true),
	SITE(4, .process = &leak, .bytes = 1000000, .count = 5),
	SITE(5, .process = &leak, .bytes = 100, .count = 8),
};
static const struct snapshot snap = SNAPSHOT(sites);

static const struct site_history steady = {.trend = {.tendency = TENDENCY_LEVELLED}};
static const struct site_history fast = {
	.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 5000, .score.total = 0.9}};
static const struct site_history slow = {
	.trend = {.tendency = TENDENCY_STEADY, .bytes_per_s = 1000, .score.total = 0.9}};
static const struct growth plain[] = {
	{.history = &steady}, {.history = &steady}, {.history = &fast, .bytes = 5000},
	{.history = &fast},   {.history = &slow},   {.history = &steady},
};

/*
 * True if the text begins with the id of the site (if by_id is set) or with the name of its
 * function.
 */
static bool is_at(const char *text, size_t site, bool by_id)
{
	char mark[32];

	if (by_id)
		snprintf(mark, sizeof(mark), "%016llx", (unsigned long long)sites[site].id);
	else
		snprintf(mark, sizeof(mark), "fn_%c", letters[site]);
	return !strncmp(text, mark, strlen(mark));
}

/*
 * Sets `ret` to the letters of the sites from the first `begin` to the next `end` (NULL: the end of
 * the text), in the order in which they first occur.
 */
static void order_in(const char *text, const char *begin, const char *end, bool by_id,
		     char ret[LENGTH(sites) + 1])
{
	const char *at = strstr(text, begin), *to;

	assert_non_null(at);
	to = end ? strstr(at + strlen(begin), end) : at + strlen(at);
	assert_non_null(to);
	memset(ret, 0, LENGTH(sites) + 1);
	for (; at < to; at++)
		for (size_t i = 0; i < LENGTH(sites); i++)
			if (is_at(at, i, by_id) && !strchr(ret, letters[i]))
				ret[strlen(ret)] = letters[i];
}

/*
 * Order of the sites in the report, of the suspects with a line of their own, of all suspects, or
 * of --sort
 */
enum which { REPORT, LINES, SUSPECTS, SORTED, WHICH_CNT };

/*
 * The parts of each format. Three parts have the order of --sort. For "sites" in JSON, the schema
 * promises this order. For the stacks in bcc's format, scripts expect it. For "sites" in HTML, no
 * other order is needed: the table of an HTML report shows the suspects ("told") before the sites.
 */
static const struct {
	enum output_format format;
	const char *begin, *end;
	bool by_id;
	enum which which;
} parts[] = {
	{FORMAT_TEXT, "", "\n\n", false, LINES},
	{FORMAT_TEXT, "\n\n", NULL, false, REPORT},
	{FORMAT_BCC, "", "with outstanding allocations", false, LINES},
	{FORMAT_BCC, "with outstanding allocations", NULL, false, SORTED},
	{FORMAT_JSON, "\"suspects\":", "\"suspects_total\":", true, SUSPECTS},
	{FORMAT_JSON, "\"sites\":", "\"suspects\":", true, SORTED},
	{FORMAT_VERDICT, "\"findings\":", "\"notes\":", true, LINES},
	{FORMAT_HTML, "\"told\":", "\"processes\":", true, LINES},
	{FORMAT_HTML, "\"sites\":", "\"told\":", true, SORTED},
	{FORMAT_CSV, "", NULL, true, REPORT},
	{FORMAT_FOLDED, "", NULL, false, REPORT},
	{FORMAT_SPEEDSCOPE, "\"frames\":", NULL, false, REPORT},
	{FORMAT_HEAPTRACK, "", NULL, false, REPORT},
	{FORMAT_PPROF, "", NULL, false, REPORT},
};

static char *print(const struct report *report, enum output_format format)
{
	char *text = NULL, *dump;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sink_for(format)->report(out, report), 0);
	fclose(out);
	if (format != FORMAT_PPROF)
		return text;
	dump = profile_dump(text, len);
	free(text);
	return dump;
}

static void check_metrics(const struct report *report, const char *const *expected)
{
	static const struct own_cost own;
	const struct metrics metrics = {.report = report, .own = &own};
	char found[LENGTH(sites) + 1];
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(metrics_write(out, &metrics, false), 0);
	fclose(out);
	order_in(text, "memleak_site_outstanding_bytes{", "# TYPE", true, found);
	assert_string_equal(found, expected[REPORT]);
	order_in(text, "memleak_suspect_growth_bytes_per_second{", "# TYPE", true, found);
	assert_string_equal(found, expected[SUSPECTS]);
}

/* Checks for the line that sums up the growth of all suspects without a line of their own. */
static void check_sum(const char *text, bool is_expected)
{
	assert_int_equal(strstr(text, "1 more site grows 50 bytes/s (--why shows it)") != NULL,
			 is_expected);
}

/* Checks the order of each format with -T `top` and --sort `sort`. */
static void check(const struct growth *growth, unsigned int top, enum sort_order sort,
		  const char *const *expected)
{
	struct fake_symbols symbols = fake_symbols_of(locations, LENGTH(locations));
	/* Without all_frames, text reports fold stacks of reclaimable memory. */
	const struct options opts = {
		.top = top, .sort = sort, .no_default_suppressions = true, .all_frames = true};
	struct report report;

	assert_int_equal(
		report_init(&opts, &snap, growth, &symbols.backend, UINT64_MAX, false, &report), 0);
	for (size_t i = 0; i < LENGTH(parts); i++) {
		cleanup_free char *text = print(&report, parts[i].format);
		char found[LENGTH(sites) + 1];

		order_in(text, parts[i].begin, parts[i].end, parts[i].by_id, found);
		if (parts[i].which == LINES && parts[i].format != FORMAT_HTML)
			check_sum(text, strcmp(expected[LINES], expected[SUSPECTS]) != 0);
		if (strcmp(found, expected[parts[i].which]) != 0)
			fail_msg("format %d, %s: %s, not %s", parts[i].format, parts[i].begin,
				 found, expected[parts[i].which]);
	}
	check_metrics(&report, expected);
	report_deinit(&report);
}

static void all_sites(void **state)
{
	static const char *const by_size[WHICH_CNT] = {"fsbctk", "fs", "fs", "bcsftk"};
	static const char *const by_count[WHICH_CNT] = {"fstcbk", "fs", "fs", "tsfcbk"};
	static const char *const by_score[WHICH_CNT] = {"fsbctk", "fs", "fs", "fsbctk"};

	check(plain, 10, SORT_SIZE, by_size);
	check(plain, 10, SORT_COUNT, by_count);
	check(plain, 10, SORT_SCORE, by_score);
}

/* Suspects are shown even if they are not among the `top` largest sites. */
static void few_sites(void **state)
{
	static const char *const expected[WHICH_CNT] = {"fsb", "fs", "fs", "bcs"};
	static const char *const suspects_only[WHICH_CNT] = {"fs", "fs", "fs", "b"};

	check(plain, 3, SORT_SIZE, expected);
	check(plain, 1, SORT_SIZE, suspects_only);
}

/*
 * A suspect that grows by less than a hundredth of the fastest one has no line of its own. It is in
 * the sum, in JSON and in the metrics.
 */
static void slight(void **state)
{
	static const double rates[] = {50, 49.9};
	static const char *const expected[][WHICH_CNT] = {{"fstbck", "fst", "fst", "bcsftk"},
							  {"fstbck", "fs", "fst", "bcsftk"}};

	for (size_t i = 0; i < LENGTH(rates); i++) {
		const struct site_history tiny = {.trend = {.tendency = TENDENCY_STEADY,
							    .bytes_per_s = rates[i],
							    .score.total = 0.9}};
		struct growth growth[LENGTH(plain)];

		memcpy(growth, plain, sizeof(plain));
		growth[5] = (struct growth){.history = &tiny};
		check(growth, 10, SORT_SIZE, expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sites),
		cmocka_unit_test(few_sites),
		cmocka_unit_test(slight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
