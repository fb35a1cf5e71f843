/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function of a stack is named for its memory, and which call it made to get that. */
#ifndef REPORT_BLAME_H
#define REPORT_BLAME_H

#include "options/options.h"
#include "report/report_site.h"

/*
 * Sets blamed and through of a site whose frames are named: from first_frame on, the innermost
 * function of the program's own code (own.h) that has a name and gets memory neither by its name
 * (wrapper_names.h) nor by what it does (wrapped_frame) for whoever calls. If there is none: the
 * library call that the program, or whoever runs its scripts, made; else the innermost function
 * of a library; else the innermost of all. Of a site in a pool it is at most the outermost
 * function of the runtime that took the memory. Of a site with chunks it is the function of the
 * chunk pool, at blamed_from. opts may be NULL.
 */
void blame(const struct options *opts, struct report_site *shown);

/*
 * True if a function of a frame of a site, whose frames are named, is of the program's own code and
 * asks for itself.
 */
bool blame_may_name(const struct options *opts, struct report_site *shown, size_t frame);

/* What calls main, and all that it was called by: the same in every program. */
bool frame_is_start(const struct sym_location *location);

#endif
