/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which function of a stack is named for its memory: the innermost that has it for itself, and
 * does not get it for whoever calls.
 */
#ifndef REPORT_BLAME_H
#define REPORT_BLAME_H

#include "report/report_site.h"

/*
 * From shown->first_frame on, the innermost function that is neither a wrapper of an allocator by
 * its name (xmalloc, zmalloc_usable, PyObject_Malloc, g_strdup, std::vector's) nor of a language's
 * runtime by its file. The innermost of all if there is none below main's caller, or if the place
 * where it would be is not known at all.
 */
struct place blamed_of(const struct report_site *shown);

/* By its name as it is demangled, with parameters or without. */
bool function_is_wrapper(const char *symbol);

/* What calls main, and all that it was called by: the same in every program. */
bool frame_is_start(const struct sym_location *location);

#endif
