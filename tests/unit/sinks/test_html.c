// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages: expected ones, without the style and the script, which are the same in all; and that a
 * browser finds in them the JSON that was meant, whatever names are in it.
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
#include "base/escape.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/json_check.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/sinks/story.h"

/* What stands between the first two of these, as the browser sees it; NULL: they are not there. */
static char *between(const char *text, const char *open, const char *close)
{
	const char *start = strstr(text, open), *end;

	if (!start)
		return NULL;
	start += strlen(open);
	end = strstr(start, close);
	return end ? strndup(start, (size_t)(end - start)) : NULL;
}

/* Takes out the inside of an element that stands at the end of its line. */
static void cut(char *text, const char *open, const char *close)
{
	char *start = strstr(text, open), *end;

	assert_non_null(start);
	start += strlen(open);
	end = strstr(start, close);
	assert_non_null(end);
	memmove(start, end, strlen(end) + 1);
}

static size_t count_of(const char *text, const char *what)
{
	size_t ret = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
		ret++;
	return ret;
}

static void check_value(const char *page, const char *id)
{
	cleanup_free char *open = NULL, *json = NULL;

	assert_true(asprintf(&open, "<script type=\"application/json\" id=\"%s\">", id) > 0);
	json = between(page, open, "</script>");
	assert_non_null(json);
	assert_null(strchr(json, '<'));
	if (!json_is_valid(json))
		fail_msg("%s: not JSON: %s", id, json);
}

static void check_page(const char *page)
{
	check_value(page, "strings");
	check_value(page, "functions");
	check_value(page, "report");
	assert_int_equal(count_of(page, "<script"), 4);
	assert_int_equal(count_of(page, "</script"), 4);
	assert_int_equal(count_of(page, "<!--"), 1);
	assert_int_equal(count_of(page, "</html>"), 1);
	assert_int_equal(count_of(page, "<h1>"), 1);
}

/* Nothing but printable UTF-8 and what lays the script out. */
static void check_bytes(const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t character;
		size_t len = utf8_decode(text, left, &character);

		assert_true(len > 0);
		assert_true(character == '\t' || character == '\n' ||
			    is_plain_character(character));
		text += len;
		left -= len;
	}
}

static void expect_page(const char *name, const struct snapshot *snaps, size_t cnt)
{
	cleanup_free char *page = print_story(&sink_html, snaps, cnt);

	check_page(page);
	check_bytes(page);
	cut(page, "<style>\n", "</style>");
	cut(page, "<!-- SPDX", "<script type=\"application/json\"");
	cut(page, "<script>\n", "</script>");
	compare(name, "html", page);
}

static void as_expected(void **state)
{
	const struct snapshot hostile_snapshot =
		SNAPSHOT(hostile_sites, .lost = {[LOSS_UNWIND] = 3});
	const struct snapshot kinds = SNAPSHOT(kind_sites), empty = SNAPSHOT_OF(NULL, 0);
	const struct snapshot sampled =
		SNAPSHOT(sampled_sites, .sampling = {SAMPLING_BYTES, 524288});

	expect_page("story", story, LENGTH(story));
	expect_page("hostile", &hostile_snapshot, 1);
	expect_page("kinds", &kinds, 1);
	expect_page("sampled", &sampled, 1);
	expect_page("empty", &empty, 1);
}

/* Names that would end the script, begin another, or open what hides its end. */
static void names_are_no_markup(void **state)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>", "<!--<script>", "]]>",  "</SCRIPT >",
		"\xe2\x80\xa8\xe2\x80\xa9",           "<\xff\xc0</",  "&lt;", "\\u003c/script>",
	};

	for (size_t i = 0; i < LENGTH(names); i++) {
		struct process process = {.pid = 1, .comm = (char *)names[i]};
		struct site site = {
			.id = 1, .process = &process, .bytes = 8, .count = 1, STACK(small_stack)};
		const struct snapshot snap = {.sites = &site, .site_cnt = 1};
		cleanup_free char *page = print_story(&sink_html, &snap, 1);

		check_page(page);
		check_bytes(page);
	}
}

/* It loads nothing, and makes no markup of names. */
static void the_script_is_harmless(void **state)
{
	static const char *const never[] = {
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
		"fetch(",    "import(",   "XMLHttpRequest",     "src=",           "url(",
	};
	cleanup_free char *page = print_story(&sink_html, story, 1);

	for (size_t i = 0; i < LENGTH(never); i++)
		if (strstr(page, never[i]))
			fail_msg("the page has %s", never[i]);
	assert_non_null(strstr(page, "default-src 'none'"));
	/* The name of SVG is no address that is asked. */
	assert_int_equal(count_of(page, "http"), 2);
}

/* One function that leaks in two processes of one name is one suspect of both. */
static void suspects_of_workers(void **state)
{
	enum { REPORTS = 12 };
	static struct process workers[] = {{.image = 1, .pid = 1, .comm = (char *)"w"},
					   {.image = 2, .pid = 2, .comm = (char *)"w"}};
	struct site sites[REPORTS][2];
	struct snapshot snaps[REPORTS];
	cleanup_free char *page = NULL;

	for (uint64_t i = 0; i < REPORTS; i++) {
		for (size_t j = 0; j < 2; j++)
			sites[i][j] = (struct site){.id = j + 1,
						    .process = &workers[j],
						    .bytes = (i + 1) * 4096,
						    .count = i + 1,
						    STACK(big_stack)};
		snaps[i] = (struct snapshot){
			.elapsed_ns = (i + 1) * 5000 * MS, .sites = sites[i], .site_cnt = 2};
	}
	page = print_story(&sink_html, snaps, REPORTS);
	assert_non_null(strstr(page, "\"processes\":2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_expected),
		cmocka_unit_test(names_are_no_markup),
		cmocka_unit_test(the_script_is_harmless),
		cmocka_unit_test(suspects_of_workers),
	};

	setenv("TZ", "TST-1", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
