/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes reports to stdout or to the file of --output. Text that is printed between output_begin()
 * and output_end() is written in one piece, so that readers never see half a report.
 */
#ifndef SINKS_OUTPUT_H
#define SINKS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "options/options.h"

struct output {
	int fd;
	const char *name; /* name for messages */
	bool document;
	/* Path of the document; NULL if there is none, or if it cannot be replaced. */
	char *path;
	char *buf;
	size_t len;
	FILE *stream;
};

/*
 * Opens the output; `path` is NULL for stdout. If `document` is true, each report replaces the
 * previous one. If `binary` is true, refuses to write to a terminal. Logs errors. Returns 0,
 * -ENOTTY for a refused terminal, or another negative errno.
 */
int output_init(struct output *out, const char *path, bool document, bool binary);
/* True if the file of --output is the file at path, even if their paths differ. */
bool output_is(const struct output *out, const char *path);
/*
 * Truncates the file of --output, unless it is a document that can be replaced. Must be called only
 * when it is certain that a report will be written. Returns 0 or a negative errno.
 */
int output_empty(struct output *out);
void output_deinit(struct output *out);

/*
 * True if a report should be written: to a document that cannot be replaced, as on stdout or a
 * pipe, only the final one.
 */
bool output_wants(const struct output *out, bool final);

/*
 * True if text should be coloured; with COLOUR_AUTO, if the output is a terminal and NO_COLOR is
 * not set.
 */
bool output_has_colour(const struct output *out, enum colour colour);
/*
 * Stores the size of the terminal; 0 rows if the output is no terminal, or if its size is not
 * known.
 */
void output_size(const struct output *out, unsigned int *rows, unsigned int *columns);

/* Returns a stream in memory to which a report is printed; NULL if out of memory. */
FILE *output_begin(struct output *out);

/*
 * Writes the report that was printed to the stream. Returns 0, -EPIPE if the reader has closed the
 * pipe, or another negative errno. Logs all errors except -EPIPE and a lack of memory for the
 * stream.
 */
int output_end(struct output *out);

#endif
