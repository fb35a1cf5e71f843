/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers the strings, code addresses and stacks of a heaptrack file. Used only by heaptrack.c. */
#ifndef SINKS_HEAPTRACK_NAMES_H
#define SINKS_HEAPTRACK_NAMES_H

#include <stdio.h>

#include "base/intern.h"
#include "report/report.h"

/*
 * The numbers of strings, code addresses and stacks each begin with 1; the number 0 means "none".
 * The parent of the outermost function of a stack is 0.
 */
struct heaptrack_names {
	FILE *out;
	struct intern strings;
	struct intern codes;
	struct intern traces;
	bool failed; /* true if memory has run out; all later results are then invalid */
};

/*
 * Returns the number of the stack `parent` plus the call at `frame`, with all functions inlined
 * there.
 */
size_t heaptrack_call(struct heaptrack_names *names, size_t parent, uint64_t frame,
		      const struct sym_location *location);
/*
 * Returns the number of the stack `parent` plus a made-up function, whose name is a formatted
 * remark.
 */
__attribute__((format(printf, 3, 4))) size_t
heaptrack_remark(struct heaptrack_names *names, size_t parent, const char *format, ...);
/* Returns the number of a sequence of bytes in the given table. Sets `failed` if out of memory. */
size_t heaptrack_number(struct heaptrack_names *names, struct intern *table, const void *bytes,
			size_t len, bool *is_new);
void heaptrack_names_deinit(struct heaptrack_names *names);

#endif
