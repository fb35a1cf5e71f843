/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins sites whose stacks differ only in the depth of a recursion. For reports that people read.
 */
#ifndef REPORT_DEPTHS_H
#define REPORT_DEPTHS_H

#include "report/report_site.h"
#include "report/snapshot.h"

struct joined_site {
	/*
	 * Copy of the first joined site. Its member `site` points to `sum`, which has the sums over
	 * all joined sites.
	 */
	struct report_site shown;
	struct site sum;
};

/*
 * Joins cnt sites into *ret, which is to be freed. A joined site takes the place of the first of
 * its sites; the order is otherwise unchanged. Kernel sites, and sites whose holders are known, are
 * not joined: a sum cannot show their details. Returns 0 or -ENOMEM.
 */
int depths_join(const struct report_site *const *sites, size_t cnt, size_t *ret_cnt,
		struct joined_site **ret);

#endif
