// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions for golden tests: compare text with files in tests/golden/, and check that text is safe
 * to print on a terminal.
 */
#include "tests/unit/lib/golden.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/escape.h"

static char *read_file(const char *path)
{
	cleanup_fclose FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!in)
		return NULL;
	/* Expected files have no zero bytes, so this reads a whole file. */
	if (getdelim(&text, &size, 0, in) < 0)
		fail_msg("%s cannot be read, or is empty", path);
	return text;
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

void compare(const char *name, const char *suffix, const char *text)
{
	cleanup_free char *path = NULL;
	cleanup_free char *expected = NULL;

	assert_true(asprintf(&path, "tests/golden/%s/report.%s", name, suffix) > 0);
	if (getenv("GOLDEN_UPDATE"))
		write_file(path, text);
	expected = read_file(path);
	if (!expected)
		fail_msg("%s: %s", path, strerror(errno));
	if (strcmp(expected, text))
		fail_msg("%s is not what was printed:\n%s", path, text);
}

void check_text(const char *text)
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
