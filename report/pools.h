/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums up memory that language runtimes take in large steps and hand out themselves. The stack that
 * happens to cause a step says little about a leak, so the sum for each process and language (a
 * pool) is judged like a site. Some runtimes also take a heap block for each object of a script. If
 * such a runtime is the executable of the process, these heap blocks are part of the pool.
 */
#ifndef REPORT_POOLS_H
#define REPORT_POOLS_H

#include "report/ranking.h"
#include "report/runtime_objects.h"
#include "report/symbol_backend.h"

struct pool {
	/* sum over all sites of the pool, but with the stack of the pool's largest site */
	struct site sum;
	const struct runtime_objects *objects;
	bool in_steps;       /* true if the pool has mappings, not only heap blocks */
	uint64_t step_bytes; /* size of the pool's largest block */
};

struct pools {
	struct pool *pools;
	size_t cnt;
	bool *is_in_pool;      /* for each site of the snapshot, true if the site is in a pool */
	struct growth *growth; /* growth of each pool */
};

/*
 * Sums up the pools of a snapshot. `symbols` finds the files of frames until deadline_ns. The sums
 * point into snap. Returns 0 or -ENOMEM.
 */
int pools_init(const struct snapshot *snap, struct symbol_backend *symbols, uint64_t deadline_ns,
	       struct pools *ret);
void pools_deinit(struct pools *pools);

/*
 * Adds the sums of the pools to `ranking`, and sets pools->growth. Must be called once per
 * snapshot.
 */
int pools_rank(struct pools *pools, const struct snapshot *snap, struct ranking *ranking);

/* If a site is the sum of a pool, returns the pool's kind of runtime objects; else NULL. */
const struct runtime_objects *pools_objects(const struct pools *pools, const struct site *site);

/* True if a process has a pool for this kind of runtime objects. */
bool pools_have(const struct pools *pools, const struct process *process,
		const struct runtime_objects *objects);

/*
 * True if a runtime's objects have grown for a short time only: the garbage collector may still
 * free them.
 */
bool objects_grow_briefly(const struct site_history *history);

/*
 * Returns by how many bytes runtime objects have grown, if this is too small a part of all
 * outstanding bytes for a verdict; else 0. Such slight growth may be garbage that has not been
 * collected yet.
 */
double objects_slight_gain(const struct site_history *history, uint64_t outstanding_bytes);

/*
 * True if a process may still be loading modules and filling caches. first_ns is the time at which
 * memory of the process was first seen. was_young: see struct run_facts.
 */
bool process_may_be_starting(const struct site_history *history, uint64_t first_ns, bool was_young);

/*
 * Returns the time at which the first of a process's pools was seen; now_ns if this was not before
 * now_ns, or if the process has no pools.
 */
uint64_t pools_first_ns(const struct pools *pools, const struct process *process, uint64_t now_ns);

/*
 * True if a pool has grown, although not like a leak, and has not been level long enough to rule
 * out more growth.
 */
bool pool_is_unclear(const struct pool *pool, const struct site_history *history);

#endif
