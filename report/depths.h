/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joins sites whose stacks differ only in the depth of a recursion, for lists that people read. */
#ifndef REPORT_DEPTHS_H
#define REPORT_DEPTHS_H

#include "report/report_site.h"
#include "report/snapshot.h"

struct joined_site {
	struct report_site shown; /* the first joined site, with the sums of all */
	struct site sum;
};

/*
 * Joins cnt sites into *ret, in the order of the first site of each; to be freed. Kernel sites and
 * sites whose holders are known are not joined, as a sum cannot show their details. Returns 0 or
 * -ENOMEM.
 */
int depths_join(const struct report_site *const *sites, size_t cnt, size_t *ret_cnt,
		struct joined_site **ret);

#endif
