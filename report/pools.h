/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that runtimes of languages take in large steps and hand out themselves. Whoever happens to
 * ask when a step is due says little, so that of each process and language there is one sum, which
 * is judged as a site is. Some runtimes also take a block for each object of a script: where they
 * run the process, such blocks are part of the sum.
 */
#ifndef REPORT_POOLS_H
#define REPORT_POOLS_H

#include "report/ranking.h"
#include "report/runtime_objects.h"
#include "report/symbol_backend.h"

struct pool {
	struct site sum; /* with the stack of the largest of its sites */
	const struct runtime_objects *objects;
	bool in_steps;       /* it has mappings, and not only blocks */
	uint64_t step_bytes; /* of its largest block */
};

struct pools {
	struct pool *pools;
	size_t cnt;
	bool *is_in_pool;      /* for each site of the snapshot */
	struct growth *growth; /* for each pool */
};

/* symbols tell the files of frames until deadline_ns. The sums point into snap. -ENOMEM. */
int pools_init(const struct snapshot *snap, struct symbol_backend *symbols, uint64_t deadline_ns,
	       struct pools *ret);
void pools_deinit(struct pools *pools);

/* Remembers them, each snapshot once, and fills growth. */
int pools_rank(struct pools *pools, const struct snapshot *snap, struct ranking *ranking);

/* What a site is for, if it is one of the sums; else NULL. */
const struct runtime_objects *pools_objects(const struct pools *pools, const struct site *site);

/* Whether a process has a pool for such objects. */
bool pools_have(const struct pools *pools, const struct process *process,
		const struct runtime_objects *objects);

/* True if a runtime's objects grow for a short time only: a collection may still come. */
bool objects_grow_briefly(const struct site_history *history);

/* True if a process, first seen at first_ns, may still load modules and fill caches. */
bool process_may_be_starting(const struct site_history *history, uint64_t first_ns);

/* Returns the first moment of the pools of a process, or now_ns if there are none. */
uint64_t pools_first_ns(const struct pools *pools, const struct process *process, uint64_t now_ns);

/* Whether it grew, and neither as a leak does nor until long ago. */
bool pool_is_unclear(const struct site_history *history);

#endif
