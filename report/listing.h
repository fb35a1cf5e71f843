/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a report in the order in which they matter. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "report/report.h"

/*
 * First those of losses, then those of suspects, then the others of the report's first `upto` as
 * they are sorted, until there are as many as the report has; none twice. 0 or -ENOMEM. *ret: to be
 * freed; its sites are the report's.
 */
int report_list(const struct report *report, size_t upto, size_t *ret_cnt,
		const struct report_site ***ret);

#endif
