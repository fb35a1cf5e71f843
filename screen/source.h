/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads lines of a source file in a separate thread, for which no other thread waits: the traced
 * program chooses the path, and the file system there may hang.
 */
#ifndef SCREEN_SOURCE_H
#define SCREEN_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* Number of lines shown before the requested line, and after it. */
#define SOURCE_AROUND 3

struct source_text {
	char *file;
	unsigned int line;
	char *lines[2 * SOURCE_AROUND + 1]; /* escaped; NULL for lines not in the file */
};

struct source_reader;

int source_reader__new(int wake_fd, struct source_reader **ret);
void source_reader__free(struct source_reader *reader);

/*
 * Returns the requested line and the lines around it. Returns NULL with *is_reading set while this
 * or another line is being read: when that is done, the reader writes to wake_fd, and the caller
 * must ask again. Returns NULL without *is_reading if the line cannot be read.
 */
const struct source_text *source_reader__ask(struct source_reader *reader, const char *file,
					     unsigned int line, bool *is_reading);

#endif
