/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a stack, inlined ones too, from the outermost to the one that called the
 * allocator, and what each is called.
 */
#ifndef REPORT_FRAME_WALK_H
#define REPORT_FRAME_WALK_H

#include "report/report_site.h"

struct frame_walk {
	const struct report_site *shown;
	size_t next; /* frames of the site that are left */
	size_t left; /* functions of the one before next that are left */
	/* The function that is come to. */
	uint64_t addr;                       /* 0: not known */
	const struct sym_location *location; /* NULL: nothing is known but the address */
	const struct sym_frame *frame;       /* NULL: nothing of the function */
};

void frame_walk_begin(struct frame_walk *walk, const struct report_site *shown);
/* False: that was the last. */
bool frame_walk_next(struct frame_walk *walk);

/* Its name, as raw bytes; else its module and place, or its address. From malloc; NULL: no memory.
 */
char *frame_name(const struct frame_walk *walk);

/* Goes to the blamed function, from where on it can be walked inwards; false: no stack is known. */
bool frame_walk_blamed(struct frame_walk *walk, const struct report_site *shown);
bool frame_walk_at(const struct frame_walk *walk, const struct place *place);
bool frame_walk_at_blamed(const struct frame_walk *walk);

/* Whose stack it is: the process's name, as raw bytes, or "[kernel]". */
const char *stack_root(const struct site *site);

/* What stands for the outer frames that are not known; NULL: all are, as far as is known. */
const char *frame_missing(const struct site *site);

/*
 * Calls part for each name of a flame graph, root first: the process, what is missing, the
 * functions (walk: where it is; else NULL), and the kind of memory if that is not heap. Names are
 * raw bytes and part's only during the call. Ends with the first error; 0 or -ENOMEM.
 */
typedef int stack_part(void *arg, const char *name, const struct frame_walk *walk);
int stack_for_each(const struct report_site *shown, stack_part *part, void *arg);

#endif
