/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins sites whose stacks differ in the depth of a recursion alone, for a list that people read.
 */
#ifndef REPORT_DEPTHS_H
#define REPORT_DEPTHS_H

#include "report/report_site.h"
#include "report/snapshot.h"

struct joined_site {
	struct report_site shown; /* the first of them, with the sums of all */
	struct site sum;
};

/*
 * *ret has at most cnt sites, in the order of the first of each; to be freed. What a sum cannot
 * show is not joined: kernel memory, and sites whose holders are known. 0 or -ENOMEM.
 */
int depths_join(const struct report_site *const *sites, size_t cnt, size_t *ret_cnt,
		struct joined_site **ret);

#endif
