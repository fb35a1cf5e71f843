/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a stack nobody wants to read one by one: what is inside of a runtime, of an
 * interpreter or of the standard library, and what every program begins with. It knows nothing of
 * how a stack is written.
 */
#ifndef REPORT_FOLD_H
#define REPORT_FOLD_H

#include "report/report_site.h"

/* A function of a stack. */
struct spot {
	struct place place;
	const struct sym_location *location;
	const struct sym_frame *frame; /* NULL: it has no name */
};

/* From the function that called the allocator outwards. */
struct fold {
	const struct report_site *shown;
	size_t end; /* frames from this one on are left out */
	/* What is come to: a function, or so many in a row. */
	struct spot spot;
	const char *inside; /* of what a row is: the path of a file, or "std"; NULL: a function */
	size_t cnt;
	/* The rest is what every program begins with, so that nothing of it is come to. */
	bool at_start;
	struct spot last; /* of the row */
	bool begun;
	const char *before;
	size_t spared;
	bool scripted; /* a function of a script was come to */
};

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end);
/* False: nothing is left but what is left out. */
bool fold_next(struct fold *fold);

bool spot_is_at(const struct spot *spot, struct place place);
bool spot_has_symbol(const struct spot *spot);
/* Of the same stack, one further out; false: it was the outermost. */
bool spot_next(const struct report_site *shown, struct spot *spot);
struct spot spot_at(const struct report_site *shown, struct place place);

#endif
