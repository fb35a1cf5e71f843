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

#define FILE_MOST (16 << 20)
#define LINE_MOST 400
/* Spaces drawn for a tab. */
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

void text_lines_read(int fd, const long *numbers, size_t cnt, char **ret)
{
	struct stat st;
	cleanup_fclose FILE *file = fdopen(fd, "re");
	cleanup_free char *line = NULL;
	size_t cap = 0, next = 0;

	if (!file || fstat(fd, &st) || st.st_size > FILE_MOST) {
		if (!file)
			close(fd);
		return;
	}
	while (next < cnt && numbers[next] < 1)
		next++;
	for (long i = 1; next < cnt && getline(&line, &cap, file) >= 0; i++)
		if (i == numbers[next])
			ret[next++] = plain_line(line);
}
