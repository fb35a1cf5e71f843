/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What seems to leak, by the functions that are named for it: paths of one function are one. */
#ifndef REPORT_SUSPECTS_H
#define REPORT_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "report/report_site.h"

struct suspect {
	const struct report_site *site; /* the path that leaks most */
	size_t path_cnt;
	size_t process_cnt; /* that they are of; 1 also for the kernel */
	double bytes_per_s; /* of all paths; so below */
	double weight;      /* with how sure it is */
	uint64_t seen;      /* blocks */
	uint64_t freed;
	uint64_t since_ns; /* of the one that has been growing for longest */
};

/*
 * Of cnt paths that seem to leak, with their names and histories: suspects, the worst first, at
 * most `most`. Trifles beside all others are left out. The suspects point into paths; to be freed.
 */
int suspects_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		  struct suspect **ret);

#endif
