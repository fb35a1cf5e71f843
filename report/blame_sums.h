/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blames functions for the growth that all sites with the function on their stacks have together.
 */
#ifndef REPORT_BLAME_SUMS_H
#define REPORT_BLAME_SUMS_H

#include "report/callers.h"
#include "report/chunk_pools.h"
#include "report/funnels.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

/*
 * Blames a call if the sum of its sites seems to leak, its function may be named
 * (blame_may_name()), and no inner function has most of the gain. If an inner function has most of
 * the gain but does not seem to leak, no function is blamed. A chunk pool is judged only by the sum
 * of its sites, and its function is blamed.
 *
 * Replaces all sites of a blamed call in `sites` by one candidate: the site that gained most, with
 * the history of the sum. `symbols`, which may be NULL, names calls until deadline_ns. Returns 0 or
 * -ENOMEM.
 */
int blame_sums(const struct options *opts, const struct callers *callers,
	       const struct funnels *funnels, const struct chunk_pools *pools,
	       struct symbol_backend *symbols, uint64_t deadline_ns, struct candidate *sites,
	       size_t *cnt);

#endif
