/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks over the functions of a stack, from the outermost function to the one that called the
 * allocator. Includes inlined functions and functions without names.
 */
#ifndef REPORT_FRAME_WALK_H
#define REPORT_FRAME_WALK_H

#include "report/report_site.h"

struct frame_walk {
	const struct report_site *shown;
	/* Number of frames not walked yet, which is also the index of the current frame. */
	size_t next;
	size_t left;   /* number of functions of the current frame (inlined ones, too) still to walk
			*/
	uint64_t addr; /* address in the current frame; 0 if not known */
	/* Location of the current frame; NULL if only the address is known. */
	const struct sym_location *location;
	const struct sym_frame *frame; /* current function; NULL if not known */
};

void frame_walk_begin(struct frame_walk *walk, const struct report_site *shown);
/* Goes to the next function inwards; returns false if there is none. */
bool frame_walk_next(struct frame_walk *walk);

/*
 * Returns the path of a function's source file as raw bytes, to be freed, and sets *line, to 0 if
 * the line is not known. If the function is in a script, takes both from the symbol. Returns NULL
 * if the file is not known, or if out of memory. `frame` may be NULL.
 */
char *frame_file(const struct sym_frame *frame, unsigned int *line);

/*
 * Begins a walk that goes inwards from the blamed function. Returns false if the stack is not
 * known.
 */
bool frame_walk_blamed(struct frame_walk *walk, const struct report_site *shown);
bool frame_walk_at(const struct frame_walk *walk, const struct stack_pos *pos);
bool frame_walk_at_blamed(const struct frame_walk *walk);

/*
 * Returns the name of the process that a stack belongs to, as raw bytes; "[kernel]" without a
 * process, "?" if the name is not known.
 */
const char *stack_root(const struct site *site);

/*
 * Returns a text that stands for missing outer frames; NULL if no frames are known to be missing.
 */
const char *frame_missing(const struct site *site);

/*
 * Calls part() for each name that a site has in a flame graph, root first: the process, a text for
 * missing frames, the functions, and the kind of memory unless it is heap. The argument `walk` of
 * part() is NULL for names that are not functions. Names are raw bytes, valid during the call.
 * Returns 0, -ENOMEM or the first error of part().
 */
typedef int stack_part(void *arg, const char *name, const struct frame_walk *walk);
int stack_for_each(const struct report_site *shown, stack_part *part, void *arg);

#endif
