/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts the table of processes of --summary. */
#ifndef REPORT_SUMMARY_ORDER_H
#define REPORT_SUMMARY_ORDER_H

#include "options/options.h"
#include "report/snapshot.h"

/* Sorts all summaries of a snapshot. The caller frees *ret. Returns 0 or -ENOMEM. */
int summary_order_init(const struct snapshot *snap, enum summary_sort by,
		       const struct process_summary ***ret);

#endif
