/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blames functions for growth. The growth of a function is the growth of all sites that have the
 * function on their stacks.
 */
#ifndef REPORT_BLAME_SUMS_H
#define REPORT_BLAME_SUMS_H

#include "report/callers.h"
#include "report/chunk_pools.h"
#include "report/funnels.h"
#include "report/history_join.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

/*
 * Blames a call if all of this is true:
 *   - the sum of its sites seems to leak;
 *   - its function is one that may be blamed (blame_may_name());
 *   - at least half of its gain is due to sites that no inner call explains. A blamed inner call
 *     explains a site. An inner call that may be blamed, but does not seem to leak, also explains
 *     the site if the inner call gained at least half as much as the outer call.
 *
 * If many functions share the blame for the growth of an outer call, and each of them has only a
 * small part, apart from what it allocates for others of them, the outer call is blamed for the
 * whole growth instead, unless its function is main.
 * The sites of a chunk pool are judged only by their sum. If the sum seems to leak, the pool's
 * function is blamed; otherwise, the sites are removed from `sites`.
 *
 * Replaces all sites of a blamed call in `sites` by one candidate, with the history of the sum and
 * the stack of the site that gained most. If most of the gain has the same caller, only sites with
 * this caller are considered. `symbols` looks up function names until deadline_ns; if it is NULL,
 * only chunk pools are blamed. Copies of a call (call_copies.h) count as one call. The candidates
 * point into *joined. Returns 0 or -ENOMEM.
 */
int blame_sums(const struct options *opts, const struct callers *callers,
	       const struct funnels *funnels, const struct chunk_pools *pools,
	       struct symbol_backend *symbols, uint64_t deadline_ns, struct candidate *sites,
	       size_t *cnt, struct joined_histories *joined);

#endif
