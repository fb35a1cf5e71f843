/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the stacks of a report, the most important first. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "report/report.h"

/*
 * Lists the stacks of all losses, then those of all suspects. Then, while the list has fewer than
 * report->site_cnt stacks, adds those of the first `upto` sites of the report. No stack is listed
 * twice. For a suspect that is the sum of a runtime's pool, lists the first unlisted site of the
 * pool, so that no block is in two stacks. *ret points to sites of the report and is to be freed.
 * Returns 0 or -ENOMEM.
 */
int report_list(const struct report *report, size_t upto, size_t *ret_cnt,
		const struct report_site ***ret);

#endif
