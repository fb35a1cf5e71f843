/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the function to blame for a stack's memory, and the library function that it called to
 * allocate.
 */
#ifndef REPORT_BLAME_H
#define REPORT_BLAME_H

#include "options/options.h"
#include "report/report_site.h"

/*
 * Sets `blamed` and `through` of a site whose frames are named. Frames further in than first_frame
 * are never blamed. `blamed` is the innermost named function of the program's own code (own.h) that
 * does not allocate on behalf of its callers, as judged by its name (wrapper_names.h) and by its
 * behaviour (wrapped_frame).
 *
 * If there is no such function, `blamed` is the library function that the program or its
 * interpreter called. If there is no such library function, `blamed` is the innermost named
 * function of a library or interpreter, else the program's innermost function, else the innermost
 * function. If the site is in a pool, only functions of scripts, or of the runtime that took the
 * memory, are blamed. If the site belongs to a chunk pool, the function of the chunk pool is
 * blamed; its frame is blamed_from. opts may be NULL.
 */
void blame(const struct options *opts, struct report_site *shown);

/*
 * True if a frame of a site has a function that may be blamed: a named function of the program's
 * own code that does not allocate on behalf of its callers. The frames of the site must be named.
 */
bool blame_may_name(const struct options *opts, struct report_site *shown, size_t frame);

/*
 * Moves `pos`, which is at the blamed function or at a caller of it, to the next caller outwards.
 * Skips callers that tell readers nothing: addresses, repetitions of a recursion, and the
 * interpreter of a blamed script. Returns false if there is no such caller before main, start-up
 * code or the entry into the kernel, or if the caller is not common to all stacks that `shown`
 * stands for.
 */
bool blame_next_caller(const struct report_site *shown, struct stack_pos *pos);

/*
 * True for start-up code that calls main(), such as _start. Such code is the same in all programs.
 */
bool frame_is_start(const struct sym_location *location);

#endif
