/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes reports to stdout or to --output FILE. Text printed between output_begin() and
 * output_end() is written in one piece, so that readers never see half a report.
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
	char *path; /* path of the document to replace; NULL if no document is replaced */
	char *buf;
	size_t len;
	FILE *stream;
};

/*
 * Opens the output; path is NULL for stdout. If document is true, each report replaces the one
 * before. If binary is true, a terminal is refused. Logs what failed.
 */
int output_init(struct output *out, const char *path, bool document, bool binary);
/* True if --output is the file at path, under any name. */
bool output_is(const struct output *out, const char *path);
/* Truncates the file. Called once it is certain that a report will be written. */
int output_empty(struct output *out);
void output_deinit(struct output *out);

/*
 * True if a report should be written. A document that cannot be replaced, as on stdout or a pipe,
 * is written for the final report only.
 */
bool output_wants(const struct output *out, bool final);

/*
 * True if text should be coloured. With COLOUR_AUTO: if the output is a terminal and NO_COLOR is
 * not set.
 */
bool output_has_colour(const struct output *out, enum colour colour);

/* Returns a stream to print to, or NULL if there is no memory. */
FILE *output_begin(struct output *out);

/*
 * Writes the buffered report. Returns -EPIPE if the reader has closed the pipe; logs all other
 * errors.
 */
int output_end(struct output *out);

#endif
