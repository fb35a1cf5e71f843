/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where reports go: stdout or --output FILE. What is printed between output_begin and output_end
 * is written in one piece, so a reader never sees half a report.
 */
#ifndef SINKS_OUTPUT_H
#define SINKS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "options/options.h"

struct output {
	int fd;
	const char *name; /* for messages */
	bool document;
	char *path; /* of a document that is replaced; NULL: none */
	char *buf;
	size_t len;
	FILE *stream;
};

/*
 * path NULL: stdout. document: what is written is a whole, in place of what was written before;
 * binary: not to a terminal. Says on stderr what failed.
 */
int output_init(struct output *out, const char *path, bool document, bool binary);
/* Whether --output is this file, by whatever name. */
bool output_is(const struct output *out, const char *path);
/* Once it is known that there will be something to write: what the file had is lost. */
int output_empty(struct output *out);
void output_deinit(struct output *out);

/* Whether a report has a place: of documents a pipe, like stdout, takes the final one alone. */
bool output_wants(const struct output *out, bool final);

/* Whether text for it is to be coloured: NO_COLOR and what it is decide if nobody else does. */
bool output_has_colour(const struct output *out, enum colour colour);

/* A stream to print to; NULL: no memory. */
FILE *output_begin(struct output *out);

/* Writes it. -EPIPE: the reader is gone (said nothing); other errors are said on stderr. */
int output_end(struct output *out);

#endif
