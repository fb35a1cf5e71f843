/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions that take memory in chunks of one size and hand it out to many callers, as
 * obstacks and memory pools do. The caller that happens to need a new chunk says little about a
 * leak, so a chunk pool is judged as a whole. Such functions are found by their behaviour; names
 * are used only to exclude functions of allocators and libraries.
 */
#ifndef REPORT_CHUNK_POOLS_H
#define REPORT_CHUNK_POOLS_H

#include "report/callers.h"
#include "report/chunks.h"
#include "report/site_order.h"
#include "report/symbol_backend.h"

struct chunk_pool {
	const struct site *site; /* a site of the pool */
	size_t frame_cnt;        /* number of innermost frames that all sites of the pool share */
	struct chunks chunks;
};

struct chunk_pools {
	struct chunk_pool *pools;
	size_t cnt;
};

/*
 * Finds the chunk pools. `sites`: all sites of a report, sorted by shared_frames_sort(); they must
 * outlive the pools. `symbols` names functions until deadline_ns. If `callers` or `symbols` is
 * NULL, finds no pools. Returns 0 or -ENOMEM.
 */
int chunk_pools_init(const struct candidate *const *sites, size_t cnt,
		     const struct callers *callers, struct symbol_backend *symbols,
		     uint64_t deadline_ns, struct chunk_pools *ret);
void chunk_pools_deinit(struct chunk_pools *pools);

/* Returns the pool that took the memory of a site; NULL if no pool did. */
const struct chunk_pool *chunk_pools_find(const struct chunk_pools *pools, const struct site *site);

#endif
