/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the stacks of the sites in a walk, and joins sites with equal stacks. */
#ifndef LOADER_TABLES_TRACKER_SITES_H
#define LOADER_TABLES_TRACKER_SITES_H

#include "loader/tables/tracker.h"

/*
 * Reads the sites of the current walk from the kernel tables. If the stack of a site turns out to
 * be the stack of another site, the sums of the first site are added to the second, and the field
 * `joined` of the first site points to the second.
 */
int tracker_sites_load(struct tracker *tracker);

/*
 * Returns the site of a descendant that has the stack and kind of `site`, which is a site of its
 * ancestor. image: the descendant, which may never have allocated with this stack itself. Returns
 * NULL if out of memory.
 */
struct site_entry *tracker_sites_descendant(struct tracker *tracker, uint64_t site, uint32_t image);

/*
 * Sets the sampled_size of a block by the sampling step of its site; for SAMPLING_STEPS. Returns 0
 * or -ENOMEM.
 */
int tracker_sites_weigh(struct tracker *tracker, uint64_t site, struct block *block);

/*
 * Returns the id of the site that has the image and stack of `site` and the given kind; 0 if out of
 * memory.
 */
uint64_t tracker_sites_of_kind(struct tracker *tracker, uint64_t site, uint32_t kind);

#endif
