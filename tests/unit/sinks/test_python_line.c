// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the lines about growing objects of Python programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "report/pools.h"
#include "sinks/python_line.h"
#include "sinks/sink.h"

#define SECOND_NS 1000000000ULL

/* Places that allocated the items of growing containers: a line of a script, and a library. */
static const struct sym_location script = {
	.module = SYM_SCRIPT,
	.frame_cnt = 1,
	.frames = &(const struct sym_frame){
		.symbol = "py::keep:/srv/app.py", .file = "/srv/app.py", .line = 12}};
static const struct sym_location library = {
	.module = "/lib/libpython3.11.so",
	.frame_cnt = 1,
	.frames = &(const struct sym_frame){.symbol = "list_resize"}};
static const struct sym_location *locations[] = {&script, &library};
static const uint64_t frames[] = {1};
static const struct site sites[] = {{.id = 7, .frames = frames, .frame_cnt = 1},
				    {.id = 8, .frames = frames, .frame_cnt = 1}};
static const struct report_site keepers[] = {{.site = &sites[0], .locations = &locations[0]},
					     {.site = &sites[1], .locations = &locations[1]}};

static void expect_text(const struct report *report, const char *expected)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	python_write_line(&(struct text_part){out, report, "", false, LOOK_BCC, NULL, false});
	fclose(out);
	assert_string_equal(text, expected);
}

static void expect(const struct python_growth *python, bool asked, const char *expected)
{
	static const struct pool unclear;
	const struct snapshot snap = {.python = python};
	const struct report report = {.snapshot = &snap,
				      .unclear = asked ? &unclear : NULL,
				      .keepers = keepers,
				      .keeper_cnt = 2};

	expect_text(&report, expected);
}

/* The lines are also written while the report cannot say of some growth whether it is a leak. */
static void unjudged(void **state)
{
	static const struct report_site settling;
	const struct python_growth python = {
		.classes = {{.name = "Entry", .more = 300, .more_bytes = 300, .for_ns = SECOND_NS}},
		.class_cnt = 1};
	const struct snapshot snap = {.python = &python};
	const struct report reports[] = {{.snapshot = &snap, .settling = &settling},
					 {.snapshot = &snap, .pending = 1},
					 {.snapshot = &snap, .undecided = 1}};

	for (size_t i = 0; i < sizeof(reports) / sizeof(*reports); i++)
		expect_text(&reports[i], "python: +300 Entry (300 bytes) in 1 s\n");
}

/* Checks the line with each allocator. Uses `part` without its containers. */
static void expect_classes(struct python_growth part)
{
	part.container_cnt = 0;
	expect(&part, true, "python: +300 Entry (14.1 KiB), +100 str (4.8 KiB) in 30 s\n");
	part.allocator = PYTHON_ALLOCATOR_POOLS;
	expect(&part, true,
	       "python: +300 Entry (14.1 KiB), +100 str (4.8 KiB) in 30 s; "
	       "stacks show one small object per MiB (PYTHONMALLOC=malloc: all)\n");
	part.allocator = PYTHON_ALLOCATOR_HEAP;
	expect(&part, true,
	       "python: +300 Entry (14.1 KiB), +100 str (4.8 KiB) in 30 s; "
	       "stacks show each object\n");
}

/* Most tests change a part of this. */
static const struct python_growth sample = {
	.classes = {{"Entry", 900, 300, 300 * 48, 30 * SECOND_NS, {.line = 0}},
		    {"str", 5000, 100, 4900, 30 * SECOND_NS, {.line = 0}}},
	.class_cnt = 2,
	.containers = {{.named_by = PYTHON_VARIABLE,
			.name = "app.kept",
			.class = "list",
			.items = 900,
			.more = 600,
			.for_ns = 30 * SECOND_NS},
		       {.named_by = PYTHON_UNNAMED,
			.class = "OrderedDict",
			.items = 40,
			.more = 20,
			.for_ns = 40 * SECOND_NS,
			.site = 8}},
	.container_cnt = 2,
};

static void lines(void **state)
{
	expect(&sample, true,
	       "python: app.kept (list) grows by 20 items/s to 900; "
	       "an OrderedDict grows by 0.5 items/s to 40\n"
	       "python: +300 Entry (14.1 KiB), +100 str (4.8 KiB) in 30 s\n");
	/*
	 * Nothing is written without a pool that may leak: objects of healthy processes grow, too.
	 */
	expect(&sample, false, "");
	expect(NULL, true, "");
	expect_classes(sample);
}

/* A container that no variable names is described by what refers to it. */
static void names(void **state)
{
	struct python_growth part = sample;
	struct python_container *container = part.containers;

	part.container_cnt = 1;
	part.class_cnt = 0;
	container->named_by = PYTHON_HOLDER;
	expect(&part, true, "python: a list in app.kept grows by 20 items/s to 900\n");
	container->named_by = PYTHON_KEY;
	expect(&part, true,
	       "python: a list with the key \"app.kept\" grows by 20 items/s to 900\n");
	container->named_by = PYTHON_VARIABLE;
	/* Names come from the traced process, so they are escaped. */
	strcpy(container->name, "a\x1b[31m\n");
	expect(&part, true, "python: a\\x1b[31m\\x0a (list) grows by 20 items/s to 900\n");
}

static void adders(void **state)
{
	struct python_growth part = sample;
	struct python_container *container = part.containers;

	part.container_cnt = 1;
	part.class_cnt = 0;
	container->site = 7;
	expect(&part, true,
	       "python: app.kept (list) grows by 20 items/s to 900, added by keep srv/app.py:12\n");
	/* A line that was seen adding items is preferred to the line that allocated them. */
	container->adder = (struct python_place){"Store.put", "/srv/store.py", 9};
	expect(&part, true,
	       "python: app.kept (list) grows by 20 items/s to 900, "
	       "added by Store.put srv/store.py:9\n");
	container->site = 0;
	expect(&part, true,
	       "python: app.kept (list) grows by 20 items/s to 900, "
	       "added by Store.put srv/store.py:9\n");
}

/*
 * The place of a class is written if it is known. The number of objects that were not counted in
 * time is written if it is not 0.
 */
static void places_and_uncounted(void **state)
{
	struct python_growth part = sample;

	part.container_cnt = 0;
	part.class_cnt = 1;
	part.uncounted = 12;
	part.classes[0].place = (struct python_place){"Entry.__init__", "/srv/app.py", 5};
	expect(&part, true,
	       "python: +300 Entry (14.1 KiB, Entry.__init__ srv/app.py:5) in 30 s\n"
	       "python: 12 objects could not be counted\n");
	part.class_cnt = 0;
	expect(&part, true, "python: 12 objects could not be counted\n");
	part.uncounted = 1;
	expect(&part, true, "python: 1 object could not be counted\n");
	part.uncounted = PYTHON_UNCOUNTED_UNKNOWN;
	expect(&part, true, "python: some objects could not be counted\n");
}

static void expect_growth(const struct python_growth *python, const char *expected)
{
	const struct snapshot snap = {.python = python};
	const struct report report = {.snapshot = &snap};
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	python_write_growth(out, &report, SIZE_MAX);
	fclose(out);
	assert_string_equal(text, expected);
}

/* Growth too slow for a rate, which would be rounded to 0, is written as a number and a time. */
static void slow_growth(void **state)
{
	struct python_growth python = {
		.classes = {{"Entry",
			     900,
			     16,
			     16 * 48,
			     600 * SECOND_NS,
			     {"Entry.__init__", "/srv/app.py", 5}}},
		.class_cnt = 1,
		.containers = {{PYTHON_VARIABLE,
				"app.kept",
				"list",
				90,
				16,
				600 * SECOND_NS,
				0,
				0,
				{.line = 0}}},
		.container_cnt = 1,
	};

	expect_growth(&python, "app.kept (list) grows by 16 items in 600 s, and Entry objects by "
			       "16 in 600 s (Entry.__init__ srv/app.py:5)");
	python.container_cnt = 0;
	python.classes[0].more = 180;
	expect_growth(&python, "Entry objects grow by 0.3/s (Entry.__init__ srv/app.py:5)");
	python.classes[0].more = 6000;
	expect_growth(&python, "Entry objects grow by 10/s (Entry.__init__ srv/app.py:5)");
}

static void same_name(void **state)
{
	struct python_growth python = {
		.containers = {{PYTHON_VARIABLE,
				"Worker.jobs",
				"list",
				900,
				600,
				30 * SECOND_NS,
				0,
				0,
				{.line = 0}},
			       {PYTHON_VARIABLE,
				"Worker.jobs",
				"list",
				800,
				300,
				30 * SECOND_NS,
				0,
				0,
				{.line = 0}}},
		.container_cnt = 2,
	};

	expect(&python, true,
	       "python: Worker.jobs (list) grows by 20 items/s to 900; "
	       "another Worker.jobs (list) grows by 10 items/s to 800\n");
	for (size_t i = 0; i < 2; i++)
		python.containers[i].named_by = PYTHON_UNNAMED;
	expect(&python, true,
	       "python: a list grows by 20 items/s to 900; "
	       "another list grows by 10 items/s to 800\n");
	strcpy(python.containers[1].class, "set");
	expect(&python, true,
	       "python: a list grows by 20 items/s to 900; "
	       "a set grows by 10 items/s to 800\n");
}

/*
 * Growing classes are written if untraced anonymous memory grows: this may be in pools from before
 * tracing.
 */
static void untraced_memory(void **state)
{
	struct untraced_growth growth = {.part = FOOTPRINT_ANONYMOUS};
	const struct python_growth python = {
		.classes = {{"Entry", 900, 300, 300 * 48, SECOND_NS, {.line = 0}}}, .class_cnt = 1};
	const struct snapshot snap = {.python = &python};
	const struct report report = {.snapshot = &snap, .untraced = {.items = &growth, .cnt = 1}};

	expect_text(&report, "python: +300 Entry (14.1 KiB) in 1 s\n");
	growth.part = FOOTPRINT_DESCRIPTORS;
	expect_text(&report, "");
}

static void expect_in(const struct sink *sink, const struct report *report, const char *expected)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sink->report(out, report), 0);
	fclose(out);
	assert_non_null(strstr(text, expected));
}

/* The line is a note in the JSON verdict, and follows the verdict in an HTML report. */
static void notes(void **state)
{
	static const struct runtime_objects objects = {.words = "python objects"};
	static const struct pool unclear = {.objects = &objects};
	const struct python_growth python = {
		.classes = {{"Entry", 900, 300, 300 * 48, SECOND_NS, {.line = 0}}}, .class_cnt = 1};
	const struct snapshot snap = {.python = &python};
	const struct report report = {.snapshot = &snap, .unclear = &unclear};

	expect_in(&sink_verdict, &report, "\"python: +300 Entry (14.1 KiB) in 1 s\"]");
	expect_in(&sink_html, &report, "<li>python: +300 Entry (14.1 KiB) in 1 s</li>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),           cmocka_unit_test(names),
		cmocka_unit_test(adders),          cmocka_unit_test(places_and_uncounted),
		cmocka_unit_test(slow_growth),     cmocka_unit_test(same_name),
		cmocka_unit_test(untraced_memory), cmocka_unit_test(notes),
		cmocka_unit_test(unjudged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
