/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves reserved address space out of a report, which shows its sum separately: a single mapping
 * of terabytes would dwarf the totals.
 */
#ifndef REPORT_RESERVES_H
#define REPORT_RESERVES_H

#include "report/snapshot_view.h"

/* Removes reserved sites from the view and sets view->snap.reserved. Returns 0 or -ENOMEM. */
int reserves_leave_out(struct snapshot_view *view);

#endif
