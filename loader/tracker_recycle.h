/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes room in the table of stacks: a program may allocate along many more paths than have
 * something outstanding at a time.
 */
#ifndef TRACKER_RECYCLE_H
#define TRACKER_RECYCLE_H

#include "loader/tracker.h"

/*
 * Moves stacks of which nothing is outstanding from the kernel's table to tracker->archive, once
 * the table is getting full. Their sites stay: a path that allocates again goes on as before, and
 * an allocation that is under way meanwhile loses nothing. 0 or a negative errno.
 */
int tracker_recycle(struct tracker *tracker);

/* Keeps a stack as it is now in tracker->archive, instead of what the table has of it. */
void tracker_recycle_stack(struct tracker *tracker, uint64_t id, const struct memleak_stack *stack);

/* Before tracking begins. */
void tracker_recycle_init(struct tracker *tracker);

#endif
