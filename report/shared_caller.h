/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a function that is on most of the growing stacks (paths) that belong to no suspect. */
#ifndef REPORT_SHARED_CALLER_H
#define REPORT_SHARED_CALLER_H

#include "options/options.h"
#include "report/suspects.h"

struct shared_caller {
	/* A path that has the function; NULL if no function was found. */
	const struct report_site *path;
	struct stack_pos pos; /* position of the function on the stack of `path` */
	size_t site_cnt;      /* number of sites whose stacks have the function */
};

/*
 * Searches cnt paths for a function that is on the stacks of more than half of `total` sites. The
 * function must belong to the program's own code, must not be main, and must do more than enter the
 * kernel. Of several such functions, returns the innermost. The paths must have names. Ignores
 * paths that are in a suspect, are excluded, or may stop growing soon. opts may be NULL.
 */
struct shared_caller shared_caller_of(const struct options *opts, const struct report_site *paths,
				      size_t cnt, const struct suspect *suspects,
				      size_t suspect_cnt, size_t total);

#endif
