// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies lines of a text file, escaped. */
#include "base/text_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"

/* Maximum number of bytes read from a file. */
#define BYTES_MOST (16 << 20)
#define LINE_MOST 400
#define TAB_WIDTH 4

static char *plain_line(const char *line)
{
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < LINE_MOST && line[i] && line[i] != '\n' && line[i] != '\r'; i++) {
		size_t run = strcspn(line + i, "\t\n\r");

		run = run > LINE_MOST ? LINE_MOST : run;
		if (line[i] == '\t') {
			fprintf(out, "%*s", TAB_WIDTH, "");
			continue;
		}
		escape_write(out, line + i, run);
		i += run - 1;
	}
	fclose(out);
	return ret;
}

/*
 * Reads up to BYTES_MOST bytes from the beginning of a file, and appends a NUL. Reads no more than
 * the file's size at the start, since the file may grow meanwhile. If the file is longer than
 * BYTES_MOST, drops the incomplete last line.
 */
static char *read_text(int fd, size_t *ret_len)
{
	struct stat st;
	size_t done = 0, most;
	ssize_t got = 1;
	char *text;

	if (fstat(fd, &st))
		return NULL;
	most = st.st_size > BYTES_MOST ? BYTES_MOST : (size_t)st.st_size;
	text = malloc(most + 1);
	while (text && got > 0 && done < most) {
		got = read(fd, text + done, most - done);
		done += got > 0 ? (size_t)got : 0;
	}
	while (text && st.st_size > BYTES_MOST && done && text[done - 1] != '\n')
		done--;
	if (text)
		text[done] = '\0';
	*ret_len = done;
	return text;
}

void text_lines_read(int fd, const long *numbers, size_t cnt, char **ret)
{
	cleanup_close int file = fd;
	size_t len = 0, next = 0;
	cleanup_free char *text = read_text(file, &len);
	const char *line = text, *end = text + len;

	while (next < cnt && numbers[next] < 1)
		next++;
	for (long i = 1; text && next < cnt && line < end; i++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (i == numbers[next])
			ret[next++] = plain_line(line);
		line = newline ? newline + 1 : end;
	}
}
