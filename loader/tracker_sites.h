/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites that a walk of the tables has met: loads their stacks, and joins equal ones. */
#ifndef TRACKER_SITES_H
#define TRACKER_SITES_H

#include "loader/tracker.h"

/*
 * Reads what the kernel tables know of the sites of the present walk. Those whose stacks turn out
 * to be another's have their sums added there, and joined says where.
 */
int tracker_sites_load(struct tracker *tracker);

/* A stack as it was stored; ret has room for the tracker's depth. False: it is not known. */
bool tracker_stack_find(const struct tracker *tracker, uint64_t id, struct memleak_stack *ret);
/*
 * The site that an image has with the stack of a forebear's: the same that it has if it allocates
 * there itself. NULL: no memory.
 */
struct site_entry *tracker_sites_heir(struct tracker *tracker, uint64_t site, uint32_t image);

#endif
