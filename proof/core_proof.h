/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Proves which blocks in a core's heap are unreachable, and finds the holders of the other blocks.
 */
#ifndef PROOF_CORE_PROOF_H
#define PROOF_CORE_PROOF_H

#include "proof/core_file.h"
#include "proof/marking.h"
#include "report/snapshot.h"

/*
 * Sorts the blocks of `heap`. Fills in the reachability of each site in `snap`, and the totals. All
 * definite blocks (marks.h) count as lost without a second proof, because a core does not change.
 * Returns 0, -ECANCELED if stop() returned true, or another negative errno; on failure, all sites
 * remain without reachability.
 */
int core_proof_fill(const struct core_file *core, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct snapshot *snap);

#endif
