// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up the mappings that runtimes of languages made for themselves. */
#include "report/pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/own.h"
#include "report/trend.h"

static bool is_mapping(const struct site *site)
{
	return site->space == SPACE_USER && site->process && site->frame_cnt &&
	       (site->kind == KIND_MMAP || site->kind == KIND_RESERVE);
}

/* The first frame outside of the C library says for whom a mapping is. */
static const struct runtime_objects *objects_of(const struct site *site,
						struct symbol_backend *symbols)
{
	for (size_t i = 0; i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		if (code_owner(NULL, NULL, location, NULL) != CODE_OF_RUNTIME)
			return location ? runtime_objects_of(location->module) : NULL;
	}
	return NULL;
}

static void add(struct pool *pool, const struct site *site, uint64_t *largest)
{
	struct site *sum = &pool->sum;

	site_join(sum, site);
	if (site->largest.size > pool->step_bytes)
		pool->step_bytes = site->largest.size;
	if (sum->frames && site->bytes <= *largest)
		return;
	*largest = site->bytes;
	sum->frames = site->frames;
	sum->frame_cnt = site->frame_cnt;
	sum->end = site->end;
}

static struct pool *pool_of(struct pools *pools, const struct site *site,
			    const struct runtime_objects *objects)
{
	for (size_t i = 0; i < pools->cnt; i++)
		if (pools->pools[i].sum.process == site->process &&
		    pools->pools[i].objects == objects)
			return &pools->pools[i];
	pools->pools[pools->cnt] = (struct pool){
		.objects = objects,
		.sum = {.id = hash_word(hash_word((uint64_t)KIND_MMAP, site->process->image),
					(uint64_t)*objects->interpreter),
			.kind = KIND_MMAP,
			.process = site->process,
			.newest_ns = AGE_UNKNOWN},
	};
	return &pools->pools[pools->cnt++];
}

static int sum_up(const struct snapshot *snap, const struct site *const *mappings, size_t cnt,
		  struct symbol_backend *symbols, struct pools *pools)
{
	cleanup_free uint64_t *largest = calloc(cnt + 1, sizeof(*largest));

	if (!largest)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct runtime_objects *objects = objects_of(mappings[i], symbols);
		struct pool *pool;

		if (!objects)
			continue;
		pools->is_in_pool[mappings[i] - snap->sites] = true;
		pool = pool_of(pools, mappings[i], objects);
		add(pool, mappings[i], &largest[pool - pools->pools]);
	}
	return 0;
}

int pools_init(const struct snapshot *snap, struct symbol_backend *symbols, uint64_t deadline_ns,
	       struct pools *ret)
{
	cleanup_free const struct site **mappings = calloc(snap->site_cnt + 1, sizeof(*mappings));
	struct pools pools = {.is_in_pool = calloc(snap->site_cnt + 1, sizeof(*pools.is_in_pool))};
	int err = mappings && pools.is_in_pool ? 0 : -ENOMEM;
	size_t cnt = 0;

	for (size_t i = 0; !err && symbols && i < snap->site_cnt; i++)
		if (is_mapping(&snap->sites[i]))
			mappings[cnt++] = &snap->sites[i];
	pools.pools = calloc(cnt + 1, sizeof(*pools.pools));
	pools.growth = calloc(cnt + 1, sizeof(*pools.growth));
	if (!pools.pools || !pools.growth)
		err = -ENOMEM;
	if (!err && cnt)
		err = symbols->prepare(symbols, mappings, cnt, deadline_ns);
	if (!err)
		err = sum_up(snap, mappings, cnt, symbols, &pools);
	if (err)
		pools_deinit(&pools);
	else
		*ret = pools;
	return err;
}

void pools_deinit(struct pools *pools)
{
	free(pools->pools);
	free(pools->is_in_pool);
	free(pools->growth);
	*pools = (struct pools){0};
}

int pools_rank(struct pools *pools, const struct snapshot *snap, struct ranking *ranking)
{
	cleanup_free struct site *sums = calloc(pools->cnt + 1, sizeof(*sums));
	const struct snapshot view = {
		.elapsed_ns = snap->elapsed_ns, .sites = sums, .site_cnt = pools->cnt};

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < pools->cnt; i++)
		sums[i] = pools->pools[i].sum;
	return ranking__update(ranking, &view, pools->growth);
}

const struct runtime_objects *pools_objects(const struct pools *pools, const struct site *site)
{
	for (size_t i = 0; i < pools->cnt; i++)
		if (site == &pools->pools[i].sum)
			return pools->pools[i].objects;
	return NULL;
}

bool pools_have(const struct pools *pools, const struct process *process,
		const struct runtime_objects *objects)
{
	for (size_t i = 0; i < pools->cnt; i++)
		if (pools->pools[i].sum.process == process && pools->pools[i].objects == objects)
			return true;
	return false;
}

/* Runtimes give pages back, too. What has not been level for half of its past may go on. */
bool pool_is_unclear(const struct site_history *history)
{
	const struct moment *moments = history->moments;
	const struct trend *trend = &history->trend;
	size_t last = history->moment_cnt - 1;

	if (!history->moment_cnt || moments[last].bytes <= moments[0].bytes ||
	    trend_is_suspect(trend) || trend->tendency == TENDENCY_SHRINKS)
		return false;
	return trend->tendency != TENDENCY_LEVELLED ||
	       2 * trend->since_ns < moments[last].elapsed_ns - moments[0].elapsed_ns;
}
