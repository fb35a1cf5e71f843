/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sites that a walk of the tables has met: loads their stacks, and joins equal ones. */
#ifndef LOADER_TABLES_TRACKER_SITES_H
#define LOADER_TABLES_TRACKER_SITES_H

#include "loader/tables/tracker.h"

/*
 * Reads what the kernel tables know of the sites of the present walk. If the stack of a site turns
 * out to be another's, its sums are added there, and joined says where.
 */
int tracker_sites_load(struct tracker *tracker);

/*
 * The site that an image has with the stack of an ancestor's site: the same that it has if it
 * allocates there itself. NULL: no memory.
 */
struct site_entry *tracker_sites_descendant(struct tracker *tracker, uint64_t site, uint32_t image);

/* The id of the site that the image has with the same stack for memory of that kind; 0: no memory.
 */
uint64_t tracker_sites_of_kind(struct tracker *tracker, uint64_t site, uint32_t kind);

#endif
