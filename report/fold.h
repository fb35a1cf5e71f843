/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of a stack nobody wants to read one by one: what is inside of a runtime, of an
 * interpreter or of the standard library, the repeated calls of a recursion, and what every program
 * begins with. It knows nothing of how a stack is written.
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

/* The next functions, and the same ones again: a recursion. */
struct recursion {
	size_t period; /* functions that repeat; 0: none do */
	size_t times;  /* calls of each in a row */
	bool varied;   /* the calls stand in several lines, not only in those of the first calls */
};

/* From the function that called the allocator outwards. */
struct fold {
	const struct report_site *shown;
	size_t end; /* frames from this one on are left out */
	/* The current item: a function or a row of cnt functions. */
	struct spot spot;
	const char *inside; /* of what a row is: the path of a file, or "std"; NULL: no such row */
	bool repeats;       /* a row that repeats the functions before it, see recursion */
	size_t cnt;
	/* The current item belongs to this recursion: its first calls, or the row that repeats. */
	struct recursion recursion;
	/* The rest is what every program begins with, so that nothing of it is come to. */
	bool at_start;
	struct spot last; /* of the row */
	bool begun;
	const char *before;
	size_t spared;
	bool scripted; /* a function of a script was come to */
	size_t unique; /* functions of the recursion's first calls that are still to come */
};

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end);
/* False: nothing is left but what is left out. */
bool fold_next(struct fold *fold);

/* True if both stacks have a recursion and, folded, differ in how often it repeats alone. */
bool fold_same(const struct report_site *a, const struct report_site *b);

bool spot_is_at(const struct spot *spot, struct place place);
bool spot_has_symbol(const struct spot *spot);
/* Of the same stack, one further out; false: it was the outermost. */
bool spot_next(const struct report_site *shown, struct spot *spot);
struct spot spot_at(const struct report_site *shown, struct place place);

#endif
