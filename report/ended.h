/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process held is freed when it ends. Where many processes are traced, reports are of those
 * that live; those that have ended are one sum.
 */
#ifndef REPORT_ENDED_H
#define REPORT_ENDED_H

#include "report/snapshot_view.h"

/* Leaves out what ended processes held; the sum stands in the view's ended. 0 or -ENOMEM. */
int ended_leave_out(struct snapshot_view *view);

#endif
