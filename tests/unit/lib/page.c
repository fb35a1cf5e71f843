// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks HTML reports, and compares them with expected files. */
#include "tests/unit/lib/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "tests/unit/lib/golden.h"
#include "tests/unit/lib/json_check.h"

/*
 * Returns the text between the first occurrence of `open` and the next occurrence of `close`; NULL
 * if either is missing. Browsers parse pages in the same way.
 */
static char *between(const char *text, const char *open, const char *close)
{
	const char *start = strstr(text, open), *end;

	if (!start)
		return NULL;
	start += strlen(open);
	end = strstr(start, close);
	return end ? strndup(start, (size_t)(end - start)) : NULL;
}

/* Removes the text between the first occurrence of `open` and the next occurrence of `close`. */
static void cut(char *text, const char *open, const char *close)
{
	char *start = strstr(text, open), *end;

	assert_non_null(start);
	start += strlen(open);
	end = strstr(start, close);
	assert_non_null(end);
	memmove(start, end, strlen(end) + 1);
}

size_t count_of(const char *text, const char *what)
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

/*
 * Checks that the text is printable UTF-8. Tabs and newlines are allowed, because the page's script
 * contains them.
 */
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

void check_page(const char *page)
{
	check_value(page, "strings");
	check_value(page, "functions");
	check_value(page, "report");
	assert_int_equal(count_of(page, "<script"), 4);
	assert_int_equal(count_of(page, "</script"), 4);
	assert_int_equal(count_of(page, "<!--"), 1);
	assert_int_equal(count_of(page, "</html>"), 1);
	assert_int_equal(count_of(page, "<h1>"), 1);
	check_bytes(page);
}

void compare_page(const char *name, char *page)
{
	check_page(page);
	cut(page, "<style>\n", "</style>");
	cut(page, "<noscript>", "<h2>Totals</h2>");
	cut(page, "<script>\n", "</script>");
	compare(name, "html", page);
}
