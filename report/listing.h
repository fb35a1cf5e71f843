/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the stacks of a report, the most important first. */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include "report/report.h"

/*
 * Lists the stacks of losses, then those of suspects, then those of the first `upto` sites of the
 * report, until the list has site_cnt stacks. Each stack is listed once. *ret points to sites of
 * the report and is to be freed. Returns 0 or -ENOMEM.
 */
int report_list(const struct report *report, size_t upto, size_t *ret_cnt,
		const struct report_site ***ret);

#endif
