/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of the table of processes. */
#ifndef REPORT_SUMMARY_ORDER_H
#define REPORT_SUMMARY_ORDER_H

#include "options/options.h"
#include "report/snapshot.h"

/* All of the snapshot's, sorted; ret is to be freed. */
int summary_order_init(const struct snapshot *snap, enum summary_sort by,
		       const struct process_summary ***ret);

#endif
