/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves reserved address space out of a report, and shows its sum on a separate line. Otherwise,
 * one reserved mapping of terabytes would hide all other amounts in the totals.
 */
#ifndef REPORT_RESERVES_H
#define REPORT_RESERVES_H

#include "report/snapshot_view.h"

/*
 * Removes the sites of reserved address space from the view, and sets view->snap.reserved to their
 * sum. Returns 0 or -ENOMEM.
 */
int reserves_leave_out(struct snapshot_view *view);

#endif
