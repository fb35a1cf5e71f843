/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a file of heaptrack's says once and calls by its number afterwards. Private to the sink. */
#ifndef SINKS_HEAPTRACK_NAMES_H
#define SINKS_HEAPTRACK_NAMES_H

#include <stdio.h>

#include "base/intern.h"
#include "report/report.h"

/* All numbers begin with 1; 0 is none, and a stack without callers. */
struct heaptrack_names {
	FILE *out;
	struct intern strings;
	struct intern codes;
	struct intern traces;
	bool failed; /* no memory; all that follows means nothing */
};

/* The stack that is parent's with one more function, or all that are inlined at that place. */
size_t heaptrack_call(struct heaptrack_names *names, size_t parent, uint64_t frame,
		      const struct sym_location *location);
/* The same with words in the place of a function. */
__attribute__((format(printf, 3, 4))) size_t
heaptrack_remark(struct heaptrack_names *names, size_t parent, const char *format, ...);
/* For tables of others; takes note of failure. */
size_t heaptrack_number(struct heaptrack_names *names, struct intern *table, const void *bytes,
			size_t len, bool *is_new);
void heaptrack_names_deinit(struct heaptrack_names *names);

#endif
