/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function that most of the paths have in common that no suspect stands for. */
#ifndef REPORT_SHARED_CALLER_H
#define REPORT_SHARED_CALLER_H

#include "options/options.h"
#include "report/suspects.h"

struct shared_caller {
	const struct report_site *path; /* one that has the function; NULL: there is none */
	struct place place;             /* of the function on the path */
	size_t site_cnt;                /* sites below the function */
};

/*
 * Searches cnt named paths for the innermost function of the program's own, but main, that calls
 * more than half of `total` sites; paths of suspects do not count. opts may be NULL.
 */
struct shared_caller shared_caller_of(const struct options *opts, const struct report_site *paths,
				      size_t cnt, const struct suspect *suspects,
				      size_t suspect_cnt, size_t total);

#endif
