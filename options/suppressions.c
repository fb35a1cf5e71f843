// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads suppression files, and matches names against their patterns. */
#include "options/suppressions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/escape.h"
#include "base/read_at.h"
#include "base/regular_file.h"

/* Size limit of suppression files in bytes; a file must be smaller. */
#define FILE_MAX (16 << 20)
#define KIND "leak:"

/*
 * A line of a suppression file, without blanks at its ends. The path and the line number are for
 * error messages.
 */
struct line {
	const char *path;
	size_t number;
	const char *text;
	size_t len;
};

/*
 * Sets *why to an error in a line. The message does not contain the line: with sudo, the user may
 * not be allowed to read the file.
 */
static int bad_line(const struct line *line, const char *what, char **why)
{
	if (asprintf(why, "%s:%zu: %s", line->path, line->number, what) < 0)
		*why = NULL;
	return -EINVAL;
}

static int bad_file(const char *path, int err, char **why)
{
	if (asprintf(why, "%s: %s", path, err == -ENOEXEC ? "not a regular file" : strerror(-err)) <
	    0)
		*why = NULL;
	return err;
}

static int add_pattern(struct suppressions *suppressions, const char *pattern, size_t len)
{
	char **added;

	if (array_reserve(&suppressions->patterns, &suppressions->cap, suppressions->cnt + 1))
		return -ENOMEM;
	added = &suppressions->patterns[suppressions->cnt];
	*added = strndup(pattern, len);
	if (!*added)
		return -ENOMEM;
	suppressions->cnt++;
	return 0;
}

static int take_line(struct suppressions *suppressions, const struct line *line, char **why)
{
	size_t kind_len = strlen(KIND);

	if (!line->len || line->text[0] == '#')
		return 0;
	if (memchr(line->text, '\0', line->len))
		return bad_line(line, "it contains a NUL byte", why);
	if (line->len < kind_len || strncmp(line->text, KIND, kind_len) != 0)
		return bad_line(line, "it does not begin with " KIND, why);
	if (line->len == kind_len)
		return bad_line(line, "there is no pattern after " KIND, why);
	return add_pattern(suppressions, line->text + kind_len, line->len - kind_len);
}

static bool is_blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r';
}

int suppressions_parse(struct suppressions *suppressions, const char *path, const char *text,
		       size_t len, char **why)
{
	const char *end = text + len;
	struct line line = {.path = path};
	int err = 0;

	*why = NULL;
	while (!err && text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		const char *last = next ? next : end;

		while (text < last && is_blank(*text))
			text++;
		while (text < last && is_blank(last[-1]))
			last--;
		line.number++;
		line.text = text;
		line.len = (size_t)(last - text);
		err = take_line(suppressions, &line, why);
		text = next ? next + 1 : end;
	}
	return err;
}

int suppressions_read(struct suppressions *suppressions, const char *path, char **why)
{
	struct stat st;
	cleanup_close int fd = regular_file_open(AT_FDCWD, -1, path, LINKS_ALL, &st);
	cleanup_free char *text = NULL;
	ssize_t len;

	*why = NULL;
	if (fd < 0)
		return bad_file(path, fd, why);
	text = malloc(FILE_MAX);
	if (!text)
		return -ENOMEM;
	len = read_at(fd, text, FILE_MAX, 0);
	if (len < 0)
		return bad_file(path, (int)len, why);
	if (len == FILE_MAX)
		return bad_file(path, -EFBIG, why);
	return suppressions_parse(suppressions, path, text, (size_t)len, why);
}

void suppressions_deinit(struct suppressions *suppressions)
{
	for (size_t i = 0; i < suppressions->cnt; i++)
		free(suppressions->patterns[i]);
	free(suppressions->patterns);
	*suppressions = (struct suppressions){0};
}

/*
 * Splits the pattern at asterisks, and searches the text for the parts, from left to right. For
 * each part, the first match suffices: a later match would leave less text for the parts that
 * follow.
 */
bool suppression_matches(const char *pattern, const char *text)
{
	const char *end = pattern + strlen(pattern), *text_end = text + strlen(text);
	bool at_start = *pattern == '^', at_end;

	pattern += at_start;
	at_end = pattern < end && end[-1] == '$';
	end -= at_end;
	for (;;) {
		const char *asterisk = memchr(pattern, '*', (size_t)(end - pattern));
		size_t len = (size_t)((asterisk ? asterisk : end) - pattern);
		size_t left = (size_t)(text_end - text);

		if (left < len)
			return false;
		if (!asterisk && at_end)
			return (!at_start || left == len) && !memcmp(text_end - len, pattern, len);
		if (at_start)
			text = memcmp(text, pattern, len) ? NULL : text;
		else
			text = memmem(text, left, pattern, len);
		if (!asterisk || !text)
			return text;
		at_start = false;
		text += len;
		pattern = asterisk + 1;
	}
}

/*
 * Copies a character. If the character is invalid in UTF-8, or not safe to print, writes an
 * asterisk instead. Returns the number of bytes copied.
 */
static size_t copy_character(char *to, const char *from, size_t left)
{
	uint32_t character;
	size_t len = utf8_decode(from, left, &character);

	if (len && is_plain_character(character)) {
		memcpy(to, from, len);
		return len;
	}
	*to = '*';
	return 1;
}

char *suppression_of(const char *name)
{
	size_t left = strlen(name);
	char *pattern = malloc(left + 3), *to = pattern;

	if (!pattern)
		return NULL;
	*to++ = '^';
	while (left) {
		size_t len = copy_character(to, name, left);

		name += len;
		left -= len;
		to += len;
	}
	*to++ = '$';
	*to = '\0';
	return pattern;
}
