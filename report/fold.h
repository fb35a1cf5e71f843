/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds functions of a stack that nobody needs to read one by one: adjacent functions of a runtime,
 * of an interpreter or of a standard library; functions without names, except the innermost ones;
 * the repetitions of a recursion; and start-up code. Prints nothing.
 */
#ifndef REPORT_FOLD_H
#define REPORT_FOLD_H

#include "report/report_site.h"

/* A function of a stack. */
struct spot {
	struct stack_pos pos;
	const struct sym_location *location;
	const struct sym_frame *frame; /* name and source of the function; NULL if it has no name */
};

/* A recursion: a sequence (cycle) of functions that is repeated on the stack. */
struct recursion {
	size_t period; /* number of functions in the cycle; 0 if there is no recursion */
	size_t times;  /* number of times that the cycle appears in a row */
	/* True if the cycles have the same functions, but not the same source lines. */
	bool varied;
};

/* A walk over the items of a folded stack, from the function that called the allocator outwards. */
struct fold {
	const struct report_site *shown;
	size_t end; /* number of frames to walk, counted from the innermost one */
	/* First function of the current item, which has `cnt` functions. */
	struct spot spot;
	/*
	 * The file (path) that contains all functions of the current item, or "std", or "[jit]";
	 * NULL if the item is not a run of functions from one file.
	 */
	const char *inside;
	/* true if the current item is a run of a file's functions that have no names */
	bool nameless;
	/* true if the current item stands for repetitions of the functions before it */
	bool repeats;
	size_t cnt;
	/* The recursion that the current item belongs to; its period is 0 if there is none. */
	struct recursion recursion;
	/* True if the walk has ended because only start-up code follows. */
	bool at_start;
	struct spot last; /* last function of the current item */
	bool begun;
	const char *before;
	size_t spared;
	size_t nameless_cnt; /* number of functions without names that were shown so far */
	/*
	 * Path of the interpreter, if a script's own function is blamed and functions of the
	 * standard library may be folded; otherwise NULL.
	 */
	const char *interpreter;
	bool scripted; /* true if the walk has passed a function of a script */
	/* Number of functions that are still to be walked in the first cycle of `recursion`. */
	size_t unique;
};

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end);
/*
 * Goes to the next item. Returns false if there is none, if only start-up code follows, or if the
 * frames up to fold->end have been walked.
 */
bool fold_next(struct fold *fold);

/*
 * Returns the name of the file that contains the current item (`inside`), as the process knows it.
 * The current item must be a run of functions from one file.
 */
const char *fold_file_name(const struct fold *fold);

/*
 * Returns the index of the innermost frame of start-up code, or the number of frames if there is
 * none. fold_next() leaves out this frame and its callers.
 */
size_t fold_start(const struct report_site *shown);

/*
 * True if both stacks have recursions, and the stacks differ only in how often the cycles are
 * repeated.
 */
bool fold_same(const struct report_site *a, const struct report_site *b);

bool spot_is_at(const struct spot *spot, struct stack_pos pos);
bool spot_has_symbol(const struct spot *spot);
/* Moves `spot` to the next function outwards; returns false if it is the outermost. */
bool spot_next(const struct report_site *shown, struct spot *spot);
struct spot spot_at(const struct report_site *shown, struct stack_pos pos);

#endif
