/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blames functions for what all sites behind them gained together. */
#ifndef REPORT_BLAME_SUMS_H
#define REPORT_BLAME_SUMS_H

#include "report/callers.h"
#include "report/chunk_pools.h"
#include "report/funnels.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

/*
 * Blames a call if its sum seems to leak, its function is the program's own and asks for itself
 * (blame.h), and no inner function gained most of that. If an inner function did but its own sum
 * does not seem to leak, nobody is blamed. A chunk pool's sites are judged by their sum alone, and
 * its function is blamed. The sites of a blamed call are replaced by one candidate in sites: the
 * site that gained most, with the history of the sum. symbols, which may be NULL, name calls until
 * deadline_ns. 0 or -ENOMEM.
 */
int blame_sums(const struct options *opts, const struct callers *callers,
	       const struct funnels *funnels, const struct chunk_pools *pools,
	       struct symbol_backend *symbols, uint64_t deadline_ns, struct candidate *sites,
	       size_t *cnt);

#endif
