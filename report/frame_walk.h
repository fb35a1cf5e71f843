/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks over the functions of a stack, including inlined ones, from the outermost to the one that
 * called the allocator, and names them.
 */
#ifndef REPORT_FRAME_WALK_H
#define REPORT_FRAME_WALK_H

#include "report/report_site.h"

struct frame_walk {
	const struct report_site *shown;
	size_t next; /* number of frames not walked yet: index of the current frame */
	size_t left; /* number of functions of the current frame not walked yet */
	/* The current function. */
	uint64_t addr;                       /* 0 if not known */
	const struct sym_location *location; /* NULL if only the address is known */
	const struct sym_frame *frame;       /* NULL if the function is not known */
};

void frame_walk_begin(struct frame_walk *walk, const struct report_site *shown);
/* Goes to the next function inwards; false if there is none. */
bool frame_walk_next(struct frame_walk *walk);

/*
 * Returns the name of the current function as raw bytes, else its module and offset, or its
 * address; to be freed. NULL if out of memory.
 */
char *frame_name(const struct frame_walk *walk);

/* Begins a walk inwards at the blamed function; false if the stack is not known. */
bool frame_walk_blamed(struct frame_walk *walk, const struct report_site *shown);
bool frame_walk_at(const struct frame_walk *walk, const struct place *place);
bool frame_walk_at_blamed(const struct frame_walk *walk);

/* Returns the owner of a stack: the process's name as raw bytes, or "[kernel]". */
const char *stack_root(const struct site *site);

/* Returns the placeholder for missing outer frames; NULL if none is known to be missing. */
const char *frame_missing(const struct site *site);

/*
 * Calls part for each name of a site in a flame graph, root first: the process, a placeholder for
 * missing frames, the functions, and the kind of memory unless it is heap. walk is NULL except for
 * functions. Names are raw bytes, valid during the call. Returns 0, -ENOMEM or part's first error.
 */
typedef int stack_part(void *arg, const char *name, const struct frame_walk *walk);
int stack_for_each(const struct report_site *shown, stack_part *part, void *arg);

#endif
