// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches sites, sorted by their innermost frames, for functions with chunk pools. Compares the
 * sizes and gains of a function's callers.
 */
#include "report/chunk_pools.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/allocator_frames.h"
#include "report/shared_frames.h"
#include "report/wrapper_names.h"

/* Minimum number of callers of a pool's function. Excludes constructors, which have few callers. */
#define LEAST_CALLERS 8

/* Maximum number of frames from the allocator to the function of a pool. */
#define MOST_FRAMES 4

_Static_assert(MOST_FRAMES < SHARED_FRAMES, "sites that share frames stand together");

static uint64_t size_of(const struct site *site)
{
	return chunk_size(site->bytes, site->count);
}

static uint64_t usual_size(const struct candidate *const *sites, size_t cnt)
{
	struct size_vote vote = {0};

	for (size_t i = 0; i < cnt; i++)
		size_vote_add(&vote, size_of(sites[i]->site), sites[i]->site->bytes);
	return vote.size;
}

/*
 * Adds one caller of the function to `use`. `sites` are all sites with this caller on their stacks.
 * Sites whose stacks end at the function count as sites of one caller.
 */
static void add_caller(const struct callers *callers, size_t sum, uint64_t chunk_bytes,
		       const struct candidate *const *sites, size_t cnt, struct chunk_use *use)
{
	double bytes = 0, gained = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct site *site = sites[i]->site;

		bytes += (double)site->bytes;
		if (size_of(site) == chunk_bytes)
			use->usual += (double)site->bytes;
		if (sites[i]->growth.history)
			gained += callers_gain(callers, sum, sites[i]->growth.history);
	}
	chunk_use_add(use, bytes, gained);
}

/*
 * True if the sites belong to a chunk pool. The sites share their frame_cnt innermost frames and
 * are sorted by the next frame.
 */
static bool is_chunk_pool(const struct callers *callers, const struct candidate *const *sites,
			  size_t cnt, size_t frame_cnt, struct chunks *ret)
{
	size_t sum = callers_find(callers, sites[0]->site, frame_cnt - 1);
	uint64_t chunk_bytes = usual_size(sites, cnt);
	struct chunk_use use = {0};

	if (sum == SIZE_MAX || !callers->growth[sum].history || chunk_bytes < LEAST_CHUNK)
		return false;
	for (size_t first = 0, end; first < cnt; first = end) {
		end = shared_frames_end(sites, first, cnt, frame_cnt + 1);
		add_caller(callers, sum, chunk_bytes, sites + first, end - first, &use);
	}
	*ret = (struct chunks){chunk_bytes, use.callers, POOL_AT_FRAME};
	return chunk_use_is_pool(&use, LEAST_CALLERS);
}

static int find(const struct callers *callers, const struct candidate *const *sites, size_t cnt,
		size_t frame_cnt, struct chunk_pools *pools, size_t *cap)
{
	for (size_t first = 0, end; first < cnt; first = end) {
		struct chunks chunks;

		end = shared_frames_end(sites, first, cnt, frame_cnt);
		if (!is_chunk_pool(callers, sites + first, end - first, frame_cnt, &chunks))
			continue;
		if (array_reserve(&pools->pools, cap, pools->cnt + 1))
			return -ENOMEM;
		/*
		 * Remember the pool's last site. Its stack has at least frame_cnt frames, because
		 * the sites with shorter stacks come first.
		 */
		pools->pools[pools->cnt++] =
			(struct chunk_pool){sites[end - 1]->site, frame_cnt, chunks};
	}
	return 0;
}

/*
 * True if a chunk pool may belong to this function. The function must not be in an allocator. In a
 * C or C++ library, it must be a wrapper, such as obstack_newchunk(). In any other file, it must
 * not belong to the standard library of C++ or Rust.
 */
static bool may_have_chunks(const struct site *site, const struct sym_location *location)
{
	const char *symbol = sym_outermost_symbol(location);

	if (frame_is_allocator(site, location))
		return false;
	if (location && location->module && module_is_runtime(location->module))
		return symbol && function_is_wrapper(symbol);
	return !symbol || !function_is_of_library(symbol);
}

/*
 * Drops each pool whose function cannot have a chunk pool, as the names of the function and of its
 * file show.
 */
static int check_names(struct chunk_pools *pools, struct symbol_backend *symbols,
		       uint64_t deadline_ns)
{
	cleanup_free const struct site **sites = calloc(pools->cnt + 1, sizeof(*sites));
	size_t kept = 0;
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < pools->cnt; i++)
		sites[i] = pools->pools[i].site;
	err = pools->cnt ? symbols->prepare(symbols, sites, pools->cnt, deadline_ns) : 0;
	for (size_t i = 0; !err && i < pools->cnt; i++) {
		const struct chunk_pool *pool = &pools->pools[i];
		uint64_t frame = pool->site->frames[pool->frame_cnt - 1];

		if (may_have_chunks(pool->site, symbols->lookup(symbols, pool->site, frame)))
			pools->pools[kept++] = *pool;
	}
	pools->cnt = kept;
	return err;
}

int chunk_pools_init(const struct candidate *const *sites, size_t cnt,
		     const struct callers *callers, struct symbol_backend *symbols,
		     uint64_t deadline_ns, struct chunk_pools *ret)
{
	struct chunk_pools pools = {0};
	size_t cap = 0;
	int err = 0;

	for (size_t i = 1; callers && symbols && !err && i <= MOST_FRAMES; i++)
		err = find(callers, sites, cnt, i, &pools, &cap);
	if (!err && symbols)
		err = check_names(&pools, symbols, deadline_ns);
	if (err)
		chunk_pools_deinit(&pools);
	else
		*ret = pools;
	return err;
}

void chunk_pools_deinit(struct chunk_pools *pools)
{
	free(pools->pools);
	*pools = (struct chunk_pools){0};
}

const struct chunk_pool *chunk_pools_find(const struct chunk_pools *pools, const struct site *site)
{
	/* The pools are sorted by frame_cnt, so this finds the pool of the innermost function. */
	for (size_t i = 0; i < pools->cnt; i++) {
		const struct chunk_pool *pool = &pools->pools[i];

		if (site->frame_cnt >= pool->frame_cnt &&
		    !shared_frames_compare(site, pool->site, pool->frame_cnt))
			return pool;
	}
	return NULL;
}
