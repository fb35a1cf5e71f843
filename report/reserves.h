/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address space that is only reserved is no memory: a report tells its sum beside the totals, which
 * a single such mapping of terabytes would else be all of.
 */
#ifndef REPORT_RESERVES_H
#define REPORT_RESERVES_H

#include "report/snapshot_view.h"

/* Leaves it out of the view; what that was stands in the view's reserved. -ENOMEM. */
int reserves_leave_out(struct snapshot_view *view);

#endif
