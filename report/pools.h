/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums up memory that language runtimes take in large steps and hand out themselves. The stack that
 * triggers a step says little about a leak, so the sum for each process and language is judged like
 * a site. Some runtimes also take a block for each object of a script: these blocks are part of the
 * sum if the runtime runs the process.
 */
#ifndef REPORT_POOLS_H
#define REPORT_POOLS_H

#include "report/ranking.h"
#include "report/runtime_objects.h"
#include "report/symbol_backend.h"

struct pool {
	struct site sum; /* sum of all sites, with the stack of the largest site */
	const struct runtime_objects *objects;
	bool in_steps;       /* has mappings, not only heap blocks */
	uint64_t step_bytes; /* size of its largest block */
};

struct pools {
	struct pool *pools;
	size_t cnt;
	bool *is_in_pool;      /* one flag for each site of the snapshot */
	struct growth *growth; /* growth of each pool */
};

/*
 * Sums up the pools of a snapshot. symbols find the files of frames until deadline_ns. The sums
 * point into snap. Returns 0 or -ENOMEM.
 */
int pools_init(const struct snapshot *snap, struct symbol_backend *symbols, uint64_t deadline_ns,
	       struct pools *ret);
void pools_deinit(struct pools *pools);

/* Adds the pools to ranking and sets their growth; call once per snapshot. */
int pools_rank(struct pools *pools, const struct snapshot *snap, struct ranking *ranking);

/* Returns the runtime objects in a site that is the sum of a pool; NULL for any other site. */
const struct runtime_objects *pools_objects(const struct pools *pools, const struct site *site);

/* True if a process has a pool for these runtime objects. */
bool pools_have(const struct pools *pools, const struct process *process,
		const struct runtime_objects *objects);

/* True if a runtime's objects have grown for a short time only: a collection may still come. */
bool objects_grow_briefly(const struct site_history *history);

/* True if a process, first seen at first_ns, may still load modules and fill caches. */
bool process_may_be_starting(const struct site_history *history, uint64_t first_ns);

/* Returns the time of the first moment of a process's pools, or now_ns if there are none. */
uint64_t pools_first_ns(const struct pools *pools, const struct process *process, uint64_t now_ns);

/* True if a pool has grown, though not like a leak, and has not been level for long. */
bool pool_is_unclear(const struct site_history *history);

#endif
