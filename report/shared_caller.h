/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the function that calls most of the growing paths that are not part of a suspect. */
#ifndef REPORT_SHARED_CALLER_H
#define REPORT_SHARED_CALLER_H

#include "options/options.h"
#include "report/suspects.h"

struct shared_caller {
	const struct report_site *path; /* a path with the function; NULL if none was found */
	struct place place;             /* position of the function on the path */
	size_t site_cnt;                /* sites below the function */
};

/*
 * Searches cnt named paths for the innermost function of the program's own code, except main, that
 * calls more than half of `total` sites. Ignores paths of suspects. opts may be NULL.
 */
struct shared_caller shared_caller_of(const struct options *opts, const struct report_site *paths,
				      size_t cnt, const struct suspect *suspects,
				      size_t suspect_cnt, size_t total);

#endif
