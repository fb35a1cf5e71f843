/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the function to blame for a stack's memory, and the library call that it made for it. */
#ifndef REPORT_BLAME_H
#define REPORT_BLAME_H

#include "options/options.h"
#include "report/report_site.h"

/*
 * Sets blamed and through of a site whose frames are named. Blames, from first_frame on, the
 * innermost named function of the program's own code (own.h) that does not allocate on behalf of
 * its callers, by its name (wrapper_names.h) or by behaviour (wrapped_frame). If there is none,
 * blames the library call that the program or its interpreter made; else the innermost function of
 * a library; else the innermost function. For a site in a pool, blames no function outside the
 * runtime that took the memory. For a site with chunks, blames the function of the chunk pool, at
 * blamed_from. opts may be NULL.
 */
void blame(const struct options *opts, struct report_site *shown);

/*
 * True if a frame of a site has a named function of the program's own code that does not allocate
 * on behalf of its callers. The frames of the site must be named.
 */
bool blame_may_name(const struct options *opts, struct report_site *shown, size_t frame);

/* True for start-up code that calls main(), such as _start, which is the same in all programs. */
bool frame_is_start(const struct sym_location *location);

#endif
