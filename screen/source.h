/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some lines of a source file. Its path is what a target says, and its file system may never
 * answer: so it is read by a thread that nobody waits for.
 */
#ifndef SCREEN_SOURCE_H
#define SCREEN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* Before and behind the line that was asked for. */
#define SOURCE_AROUND 3

struct source_text {
	char *file;
	unsigned int line;
	char *lines[2 * SOURCE_AROUND + 1]; /* NULL: there is none; what a terminal may see */
};

struct source_reader;

int source_reader__new(int wake_fd, struct source_reader **ret);
void source_reader__free(struct source_reader *reader);

/* NULL: it is not there, or not read yet; then wake_fd is written to once it is. */
const struct source_text *source_reader__ask(struct source_reader *reader, const char *file,
					     unsigned int line);

#endif
