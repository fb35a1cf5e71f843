/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins growing paths of one process for which the same function is blamed, so that the function is
 * judged by their sum, however many paths there are. The function may be inlined into many others,
 * or be a template with many instances. Also finds chunk pools whose function is inlined into its
 * callers, so that the stacks share no frame.
 */
#ifndef REPORT_JOINED_PATHS_H
#define REPORT_JOINED_PATHS_H

#include "report/callers.h"
#include "report/chunk_pools.h"
#include "report/funnels.h"
#include "report/history_join.h"

/*
 * Replaces growing candidates in user space with the same process, thread and blamed function by
 * one candidate, with the history of their sum. The blamed function must be the program's own. The
 * candidate has the stack of the path that grows most; callers that have no more than half of the
 * growth are not shown.
 *
 * A function that is inlined into many callers has a chunk pool if the conditions for a chunk pool
 * (chunks.h) hold. If there is no debug information, functions do not show what is inlined into
 * them. Then a chunk pool is assumed if the conditions hold for functions of one file that all
 * allocate blocks of the same size and free none.
 *
 * The candidates must come from blame_sums(). `symbols` looks up function names until deadline_ns.
 * The candidates point into *ret. Returns 0 or -ENOMEM.
 */
int joined_paths_init(const struct options *opts, const struct callers *callers,
		      const struct funnels *funnels, const struct chunk_pools *pools,
		      struct symbol_backend *symbols, uint64_t deadline_ns,
		      struct candidate *candidates, size_t *cnt, struct joined_histories *ret);

#endif
