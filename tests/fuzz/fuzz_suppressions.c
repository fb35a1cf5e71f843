// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the parser of suppression files and the matching of their patterns; "make fuzz" builds and
 * runs it. The first byte of an input selects what the rest is: a suppression file; a pattern, a
 * zero byte and a text; or a function's name, for which a suppression is made.
 */
#include "options/suppressions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define KIND "leak:"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const char *data, size_t size)
{
	char *text = strndup(data, size);

	if (!text)
		abort();
	return text;
}

static size_t lines_of(const char *data, size_t size)
{
	size_t cnt = 1;

	for (size_t i = 0; i < size; i++)
		cnt += data[i] == '\n';
	return cnt;
}

static void fuzz_file(const char *data, size_t size)
{
	struct suppressions suppressions = {0};
	char *why;
	int err = suppressions_parse(&suppressions, "file", data, size, &why);

	if (!!err != !!why || suppressions.cnt > lines_of(data, size))
		abort();
	for (size_t i = 0; i < suppressions.cnt; i++) {
		const char *pattern = suppressions.patterns[i];

		if (!*pattern || strchr(pattern, '\n'))
			abort();
		suppression_matches(pattern, "function");
	}
	suppressions_deinit(&suppressions);
	free(why);
}

/*
 * True if `text` matches the pattern from `pattern` to `end`, where * stands for any characters. A
 * naive matcher, too slow for real use.
 */
static bool is_like(const char *pattern, const char *end, const char *text)
{
	const char *asterisk = NULL, *again = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			asterisk = ++pattern;
			again = text;
		} else if (pattern < end && *pattern == *text) {
			pattern++;
			text++;
		} else if (asterisk) {
			pattern = asterisk;
			text = ++again;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

static bool matches(const char *pattern, const char *text)
{
	size_t len = strlen(pattern);
	bool at_start = *pattern == '^', at_end = len > at_start && pattern[len - 1] == '$';
	cleanup_free char *whole = malloc(len + 2);
	char *to = whole;

	if (!whole)
		abort();
	if (!at_start)
		*to++ = '*';
	len -= (size_t)at_start + at_end;
	memcpy(to, pattern + at_start, len);
	to += len;
	if (!at_end)
		*to++ = '*';
	return is_like(whole, to, text);
}

static void fuzz_pattern(const char *data, size_t size)
{
	cleanup_free char *pattern = text_of(data, size);
	size_t len = strlen(pattern) + 1;
	cleanup_free char *text = text_of(data + len, len < size ? size - len : 0);

	if (suppression_matches(pattern, text) != matches(pattern, text))
		abort();
}

/*
 * Checks that the suppression made for a name matches the name, and can be read back from a file.
 */
static void fuzz_name(const char *data, size_t size)
{
	cleanup_free char *name = text_of(data, size);
	cleanup_free char *pattern = suppression_of(name);
	struct suppressions suppressions = {0};
	cleanup_free char *line = NULL;
	size_t len = strlen(KIND);
	char *why;

	if (!pattern || !suppression_matches(pattern, name))
		abort();
	line = malloc(len + strlen(pattern) + 1);
	if (!line)
		abort();
	memcpy(line, KIND, len);
	strcpy(line + len, pattern);
	if (suppressions_parse(&suppressions, "file", line, strlen(line), &why) ||
	    suppressions.cnt != 1 || strcmp(suppressions.patterns[0], pattern) != 0)
		abort();
	suppressions_deinit(&suppressions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const fuzz[])(const char *data, size_t size) = {fuzz_file, fuzz_pattern,
								      fuzz_name};

	if (size)
		fuzz[data[0] % (sizeof(fuzz) / sizeof(fuzz[0]))]((const char *)data + 1, size - 1);
	return 0;
}
