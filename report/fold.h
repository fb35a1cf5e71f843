/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds functions of a stack that are not worth reading one by one: runs inside a runtime, an
 * interpreter or the standard library, repeated calls of a recursion, and start-up code. Knows
 * nothing of how a stack is written.
 */
#ifndef REPORT_FOLD_H
#define REPORT_FOLD_H

#include "report/report_site.h"

/* A function of a stack. */
struct spot {
	struct place place;
	const struct sym_location *location;
	const struct sym_frame *frame; /* NULL if the function has no name */
};

/* A recursion: a sequence of functions that is repeated on the stack. */
struct recursion {
	size_t period; /* number of functions in the sequence; 0 if there is no recursion */
	size_t times;  /* number of times that the sequence appears in a row */
	bool varied;   /* repeated calls are on other source lines than the first calls */
};

/* A walk over a folded stack, outwards from the function that called the allocator. */
struct fold {
	const struct report_site *shown;
	size_t end; /* number of innermost frames to walk; the rest is left out */
	/* The current item: a function or a run of cnt functions. */
	struct spot spot;
	const char *inside; /* path of the file that a run is inside of, or "std"; else NULL */
	bool repeats;       /* the item is a run that repeats the functions before it */
	size_t cnt;
	/* The recursion that the current item is a part of; its period is 0 if there is none. */
	struct recursion recursion;
	/* True if the walk has ended because only start-up code follows. */
	bool at_start;
	struct spot last; /* last function of the current item */
	bool begun;
	const char *before;
	size_t spared;
	bool scripted; /* a function of a script has been walked */
	size_t unique; /* functions of the recursion's first calls not walked yet */
};

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end);
/* Goes to the next item; false at the end, or if all further functions are left out. */
bool fold_next(struct fold *fold);

/* True if both stacks have a recursion and, once folded, differ only in its repetitions. */
bool fold_same(const struct report_site *a, const struct report_site *b);

bool spot_is_at(const struct spot *spot, struct place place);
bool spot_has_symbol(const struct spot *spot);
/* Moves a spot one function outwards; false if it was the outermost. */
bool spot_next(const struct report_site *shown, struct spot *spot);
struct spot spot_at(const struct report_site *shown, struct place place);

#endif
