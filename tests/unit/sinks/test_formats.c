// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests formats for other tools: prints scenes in each format, compares the output with
 * tests/golden/, and checks it against the rules of the tools that read it. Some names are hostile.
 * GOLDEN_UPDATE works as in test_golden.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/frame.h"
#include "sinks/sink.h"
#include "tests/unit/lib/fake_symbols.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/json_check.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/sinks/profile_dump.h"

/* Locations whose names have a special meaning in spreadsheets or in folded stacks. */

static struct process formula = {.image = 4, .pid = 7, .comm = (char *)"@x;y, \"z\" 7"};

#define MAPPED(...) .mapping = {0x55d0c0010000, 0x55d0c0012000, 0x1000}, PROGRAM, __VA_ARGS__

static const struct sym_location tricky_locations[] = {
	{.addr = 0x55d0c0010010,
	 MAPPED(.module_offset = 0x2010,
		ONE(.symbol = "=cmd|' /C calc'!A0", .offset = 16, .file = "+1.c", .line = 3))},
	{.addr = 0x55d0c0010020,
	 MAPPED(.module_offset = 0x2020, .frame_cnt = 2,
		.frames = FRAMES({.symbol = "-[NSString a;b:] 5.",
				  .file = "a;b.m",
				  .line = 1,
				  .inlined = true},
				 {.symbol = "operator 12", .offset = 32}))},
	{.addr = 0x55d0c0010030, MAPPED(.module_offset = 0x2030, ONE(.symbol = NULL))},
	/* A frame in a file that is no longer mapped. */
	{.addr = 0,
	 PROGRAM,
	 .module_offset = 0x40,
	 ONE(.symbol = "gone", .offset = 4, .file = "gone.c", .line = 9)},
};

static const uint64_t tricky_stack[] = {0x55d0c0010010, 0x55d0c0010020,
					0x55d0c0010030 | FRAME_EXACT, FRAME_FILE | 0x40};
static const uint64_t tricky_leaf[] = {0x55d0c0010020};

/*
 * The site had four blocks. Now it has one of them and two new ones: six were allocated since the
 * start.
 */
static struct site aged_before[] = {
	{.id = 1, .bytes = 64, .count = 4, .ages = {.count = {[3] = 4}}, STACK(tricky_leaf)},
};
static const struct snapshot aged_snapshot = SNAPSHOT(aged_before);
static struct site tricky_sites[] = {
	{.id = 1,
	 .process = &formula,
	 .bytes = 48,
	 .count = 3,
	 .ages = {.count = {[3] = 3}},
	 .kept = {[3] = 1},
	 AGES(MS, 1999999),
	 STACK(tricky_leaf),
	 .end = STACK_END_NO_RULE},
	{.id = 2,
	 .process = &formula,
	 .kind = KIND_MMAP,
	 .bytes = 8,
	 .count = 1,
	 AGES(0, AGE_UNKNOWN),
	 STACK(tricky_stack)},
};

static const struct scene tricky = {
	.name = "tricky",
	.opts.top = 10,
	.before = &aged_snapshot,
	.snap = SNAPSHOT(tricky_sites),
};

static const char *const shown_scenes[] = {
	"growth",          "hostile",       "frames",    "kinds", "kernel",    "sampled",
	"sampled-bytes",   "huge",          "lost",      "top",   "processes", "prove",
	"prove-processes", "prove-hostile", "prove-none"};

static const struct scene *scene_of(const char *name)
{
	for (size_t i = 0; i < scene_cnt; i++)
		if (strcmp(scenes[i].name, name) == 0)
			return &scenes[i];
	return &tricky;
}

/* Makes a symbol backend that finds all locations. */
static struct fake_symbols all_symbols(struct sym_location *ret)
{
	const size_t cnt = LENGTH(known_locations);

	memcpy(ret, known_locations, sizeof(known_locations));
	memcpy(ret + cnt, tricky_locations, sizeof(tricky_locations));
	ret[cnt + 2].addr |= FRAME_EXACT;
	ret[cnt + 3].addr = tricky_stack[3];
	return fake_symbols_of(ret, cnt + LENGTH(tricky_locations));
}

/*
 * Restores the addresses in the copy of tricky_locations, some of which all_symbols() has replaced.
 */
static void set_addresses(struct sym_location *locations)
{
	for (size_t i = LENGTH(known_locations);
	     i < LENGTH(known_locations) + LENGTH(tricky_locations); i++)
		locations[i].addr = tricky_locations[i - LENGTH(known_locations)].addr;
}

static char *print(const struct scene *scene, enum output_format format, size_t *len)
{
	struct sym_location locations[LENGTH(known_locations) + LENGTH(tricky_locations)];
	struct fake_symbols symbols = all_symbols(locations);
	const struct sink *sink = sink_for(format);
	struct growth growth[16];
	struct ranking *ranking;
	struct report report;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	assert_non_null(out);
	assert_int_equal(ranking__new(&ranking), 0);
	if (scene->before)
		assert_int_equal(ranking__update(ranking, scene->before, growth), 0);
	assert_int_equal(ranking__update(ranking, &scene->snap, growth), 0);
	assert_int_equal(report_init(&scene->opts, &scene->snap, growth, &symbols.backend,
				     UINT64_MAX, scene->final, &report),
			 0);
	set_addresses(locations);
	if (sink->header)
		sink->header(out);
	assert_int_equal(sink->report(out, &report), 0);
	assert_int_equal(fclose(out), 0);
	report_deinit(&report);
	ranking__free(ranking);
	return text;
}

static void for_each_scene(enum output_format format,
			   void (*check)(const char *name, const char *text, size_t len))
{
	size_t len;

	for (size_t i = 0; i <= LENGTH(shown_scenes); i++) {
		const struct scene *scene =
			i < LENGTH(shown_scenes) ? scene_of(shown_scenes[i]) : &tricky;
		cleanup_free char *text = print(scene, format, &len);

		check(scene->name, text, len);
	}
}

/*
 * Checks a cell by RFC 4180, and that no spreadsheet takes it for a formula. Returns the end of the
 * cell.
 */
static const char *check_cell(const char *at)
{
	if (*at != '"') {
		if (*at == '-')
			at++;
		return at + strspn(at, "0123456789abcdefghijklmnopqrstuvwxyz_TZ:.-");
	}
	assert_null(strchr("=+-@\t\r", at[1]));
	for (at++; *at != '"' || at[1] == '"'; at++) {
		assert_true(*at && *at != '\r' && *at != '\n');
		at += *at == '"';
	}
	return at + 1;
}

static void check_csv(const char *name, const char *text, size_t len)
{
	size_t cells = 0, first = 0;

	assert_int_equal(strlen(text), len);
	for (const char *at = text; *at;) {
		at = check_cell(at);
		cells++;
		if (*at == ',') {
			at++;
			continue;
		}
		assert_memory_equal(at, "\r\n", 2);
		at += 2;
		if (!first)
			first = cells;
		assert_int_equal(cells, first);
		cells = 0;
	}
	compare(name, "csv", text);
}

static void as_csv(void **state)
{
	for_each_scene(FORMAT_CSV, check_csv);
}

/* Checks a line such as "a;b;c 5": it ends with one number, and no name is empty. */
static void check_line(const char *line, size_t len)
{
	size_t digits = 0;

	while (digits < len && strchr("0123456789", line[len - 1 - digits]))
		digits++;
	assert_true(digits && len > digits + 1 && line[len - 1 - digits] == ' ');
	len -= digits + 1;
	assert_true(line[0] != ';' && line[len - 1] != ';');
	assert_null(memmem(line, len, ";;", 2));
	while (len && strchr("0123456789.", line[len - 1]))
		len--;
	assert_true(len && line[len - 1] != ' ');
}

static void check_folded(const char *name, const char *text, size_t len)
{
	assert_int_equal(strlen(text), len);
	assert_null(strchr(text, '\t'));
	check_text(text);
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		check_line(at, strcspn(at, "\n"));
	compare(name, "folded", text);
}

static void as_folded(void **state)
{
	for_each_scene(FORMAT_FOLDED, check_folded);
}

static void check_pprof(const char *name, const char *bytes, size_t len)
{
	cleanup_free char *text = profile_dump(bytes, len);

	compare(name, "pprof", text);
}

static void as_pprof(void **state)
{
	for_each_scene(FORMAT_PPROF, check_pprof);
}

static void check_speedscope(const char *name, const char *text, size_t len)
{
	assert_int_equal(strlen(text), len);
	if (!json_lines_are_valid(text))
		fail_msg("%s: not JSON: %s", name, text);
	compare(name, "speedscope", text);
}

static void as_speedscope(void **state)
{
	for_each_scene(FORMAT_SPEEDSCOPE, check_speedscope);
}

/* A report without blocks gives a valid document in each format. A table still has its header. */
static void nothing(void **state)
{
	const struct scene *empty = scene_of("empty");
	size_t len;
	cleanup_free char *folded = print(empty, FORMAT_FOLDED, &len);
	cleanup_free char *csv = print(empty, FORMAT_CSV, &len);
	cleanup_free char *speedscope = print(empty, FORMAT_SPEEDSCOPE, &len);
	cleanup_free char *pprof = print(empty, FORMAT_PPROF, &len);

	assert_string_equal(folded, "");
	check_csv("empty", csv, strlen(csv));
	check_speedscope("empty", speedscope, strlen(speedscope));
	check_pprof("empty", pprof, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_csv),   cmocka_unit_test(as_folded),
		cmocka_unit_test(as_pprof), cmocka_unit_test(as_speedscope),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
