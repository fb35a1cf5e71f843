// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up the mappings of language runtimes, and the heap blocks that runtimes take for scripts. */
#include "report/pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "report/own.h"
#include "report/trend.h"

#define NSEC_PER_SEC UINT64_C(1000000000)

/* Time for which a new process may load modules and fill caches, in nanoseconds. */
#define START_NS (2 * TREND_LEAST_S * NSEC_PER_SEC)

/*
 * Minimum recent rate of growth, relative to the earlier rate, for a process's start-up to count as
 * finished. With a lower recent rate, the growth may still be part of the start-up.
 */
#define LEAST_LATELY 0.5

/* Minimum gain of runtime objects for a verdict, as a fraction of all outstanding memory. */
#define SLIGHT 0.001

/*
 * Minimum number of steps by which a pool has grown, for it to count as level soon. If steps come
 * at random times, the probability of no step in the second half of a period with 5 is 2^-5.
 */
#define LEAST_STEPS 5

/*
 * Maximum number of frames of a stack that are searched for a function that shows what kind of
 * objects the block is for.
 */
#define MOST_FRAMES 4

static bool has_stack(const struct site *site)
{
	return site->space == SPACE_USER && site->process && site->frame_cnt;
}

static bool is_mapping(const struct site *site)
{
	return has_stack(site) && (site->kind == KIND_MMAP || site->kind == KIND_RESERVE);
}

static bool is_heap(const struct site *site)
{
	return has_stack(site) && site->kind == KIND_HEAP;
}

/* True if the stack of a site has a named function of the program or of a script. */
static bool has_own_function(const struct site *site, struct symbol_backend *symbols)
{
	for (size_t i = 0; i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		for (size_t j = 0; location && j < location->frame_cnt; j++)
			if (sym_is_known(location->frames[j].symbol) &&
			    code_owner(NULL, NULL, location, &location->frames[j]) ==
				    CODE_OF_PROGRAM)
				return true;
	}
	return false;
}

/*
 * Returns the kind of runtime objects in a block, judged by the functions at frame `first` and
 * further out. Returns NULL if the kind is not known, or if the stack has a function of the program
 * or of a script.
 */
static const struct runtime_objects *objects_by_function(const struct site *site, size_t first,
							 struct symbol_backend *symbols)
{
	for (size_t i = first; i < site->frame_cnt && i < first + MOST_FRAMES; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		const struct runtime_objects *objects = NULL;

		for (size_t j = 0; location && !objects && j < location->frame_cnt; j++)
			objects = runtime_blocks_of(location->module, location->frames[j].symbol);
		if (objects)
			return has_own_function(site, symbols) ? NULL : objects;
	}
	return NULL;
}

/*
 * Returns the kind of runtime objects in a site's memory, judged by the innermost frame outside the
 * C and C++ libraries; NULL if not known.
 */
static const struct runtime_objects *objects_of(const struct site *site,
						struct symbol_backend *symbols)
{
	for (size_t i = 0; i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		const struct runtime_objects *objects;

		if (code_owner(NULL, NULL, location, NULL) == CODE_OF_RUNTIME)
			continue;
		objects = location ? runtime_objects_of(location->module) : NULL;
		return objects && is_heap(site) && !objects->has_blocks
			       ? objects_by_function(site, i, symbols)
			       : objects;
	}
	return NULL;
}

/*
 * True if the executable of a site's process is a runtime that takes heap blocks for scripts. The
 * executable is the outermost file on the stack that is not a library.
 */
static bool runs_scripts(const struct site *site, struct symbol_backend *symbols)
{
	for (size_t i = site->frame_cnt; i-- > 0;) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);

		if (!location || !location->module)
			return false;
		if (module_is_library(location->module))
			continue;
		return runtime_has_blocks(location->module);
	}
	return false;
}

static void add(struct pool *pool, const struct site *site, uint64_t *largest)
{
	struct site *sum = &pool->sum;

	/*
	 * Judge only the sum, not the blocks by age, because garbage collectors free blocks all the
	 * time.
	 */
	if (pool->objects->has_blocks)
		site_add_sums(sum, site);
	else
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

static uint64_t id_of(const struct process *process, const struct runtime_objects *objects)
{
	return hash_text(hash_word((uint64_t)KIND_MMAP, process->image), objects->words);
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
		.sum = {.id = id_of(site->process, objects),
			.kind = KIND_MMAP,
			.process = site->process,
			.newest_ns = AGE_UNKNOWN},
	};
	return &pools->pools[pools->cnt++];
}

static int sum_up(const struct snapshot *snap, const struct site *const *sites, size_t cnt,
		  struct symbol_backend *symbols, struct pools *pools)
{
	cleanup_free uint64_t *largest = calloc(cnt + 1, sizeof(*largest));

	if (!largest)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct runtime_objects *objects = objects_of(sites[i], symbols);
		struct pool *pool;

		if (!objects || (is_heap(sites[i]) && !objects->has_blocks))
			continue;
		pools->is_in_pool[sites[i] - snap->sites] = true;
		pool = pool_of(pools, sites[i], objects);
		pool->in_steps |= is_mapping(sites[i]);
		add(pool, sites[i], &largest[pool - pools->pools]);
	}
	return 0;
}

/*
 * Adds one heap site of each process to the list `sites`: one stack is enough to find out which
 * runtime the process runs.
 */
static int add_samples(const struct snapshot *snap, const struct site **sites, size_t *cnt)
{
	struct hash_map seen = {0};
	int err = 0;

	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (!is_heap(site) || hash_map_get(&seen, site->process->image))
			continue;
		sites[(*cnt)++] = site;
		err = hash_map_set(&seen, site->process->image, (void *)site);
	}
	hash_map_deinit(&seen);
	return err;
}

/*
 * Replaces the samples in the list `sites` by all heap sites of the processes that run scripts. In
 * the list, the samples follow the mappings: see add_samples().
 */
static int choose_heap_sites(const struct snapshot *snap, struct symbol_backend *symbols,
			     const struct site **sites, size_t mapping_cnt, size_t *cnt)
{
	struct hash_map scripts = {0};
	int err = 0;

	for (size_t i = mapping_cnt; !err && i < *cnt; i++)
		if (runs_scripts(sites[i], symbols))
			err = hash_map_set(&scripts, sites[i]->process->image, (void *)sites[i]);
	*cnt = mapping_cnt;
	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (is_heap(site) && hash_map_get(&scripts, site->process->image))
			sites[(*cnt)++] = site;
	}
	hash_map_deinit(&scripts);
	return err;
}

/* Lists the sites whose memory a runtime may have taken, and prepares their names. */
static int choose_sites(const struct snapshot *snap, struct symbol_backend *symbols,
			uint64_t deadline_ns, const struct site **sites, size_t *ret_cnt)
{
	size_t cnt = 0, mapping_cnt;
	int err;

	for (size_t i = 0; i < snap->site_cnt; i++)
		if (is_mapping(&snap->sites[i]))
			sites[cnt++] = &snap->sites[i];
	mapping_cnt = cnt;
	err = add_samples(snap, sites, &cnt);
	if (!err && cnt)
		err = symbols->prepare(symbols, sites, cnt, deadline_ns);
	if (!err)
		err = choose_heap_sites(snap, symbols, sites, mapping_cnt, &cnt);
	if (!err && cnt > mapping_cnt)
		err = symbols->prepare(symbols, sites, cnt, deadline_ns);
	*ret_cnt = cnt;
	return err;
}

int pools_init(const struct snapshot *snap, struct symbol_backend *symbols, uint64_t deadline_ns,
	       struct pools *ret)
{
	cleanup_free const struct site **sites = calloc(snap->site_cnt + 1, sizeof(*sites));
	struct pools pools = {.is_in_pool = calloc(snap->site_cnt + 1, sizeof(*pools.is_in_pool))};
	int err = sites && pools.is_in_pool ? 0 : -ENOMEM;
	size_t cnt = 0;

	if (!err && symbols)
		err = choose_sites(snap, symbols, deadline_ns, sites, &cnt);
	pools.pools = calloc(cnt + 1, sizeof(*pools.pools));
	pools.growth = calloc(cnt + 1, sizeof(*pools.growth));
	if (!pools.pools || !pools.growth)
		err = -ENOMEM;
	if (!err)
		err = sum_up(snap, sites, cnt, symbols, &pools);
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

uint64_t pools_first_ns(const struct pools *pools, const struct process *process, uint64_t now_ns)
{
	for (size_t i = 0; i < pools->cnt; i++) {
		const struct site_history *history = pools->growth[i].history;

		if (pools->pools[i].sum.process == process && history && history->point_cnt &&
		    history->points[0]->elapsed_ns < now_ns)
			now_ns = history->points[0]->elapsed_ns;
	}
	return now_ns;
}

bool objects_grow_briefly(const struct site_history *history)
{
	return history->trend.since_ns < TREND_LEAST_S * NSEC_PER_SEC;
}

double objects_slight_gain(const struct site_history *history, uint64_t outstanding_bytes)
{
	double gained = history->trend.bytes_per_s * (double)history->trend.since_ns / NSEC_PER_SEC;

	return gained < SLIGHT * (double)outstanding_bytes ? gained : 0;
}

/*
 * If a process has freed blocks from before tracing, it began before tracing. So it is not starting
 * any more, unless it was young when tracing began.
 */
bool process_may_be_starting(const struct site_history *history, uint64_t first_ns, bool was_young)
{
	const struct history_point *last = history->points[history->point_cnt - 1];
	uint64_t age_ns = last->elapsed_ns - first_ns;

	if (last->earlier.cnt && !was_young)
		return false;
	return age_ns < START_NS ||
	       (age_ns < 2 * START_NS && (history->trend.tendency != TENDENCY_STEADY ||
					  history->trend.reasons.lately < LEAST_LATELY));
}

/*
 * True if a pool grew by enough steps to show one more if growth went on at the same rate, and has
 * been level for at least half of its history since then. This may be too short a growth for the
 * trend test.
 */
static bool is_level(const struct pool *pool, const struct site_history *history)
{
	const struct history_point *const *points = history->points;
	size_t last = history->point_cnt - 1, end = 0;

	for (size_t i = 1; i <= last; i++)
		if (points[i]->bytes > points[end]->bytes)
			end = i;
	return points[end]->bytes - points[0]->bytes >= LEAST_STEPS * pool->step_bytes &&
	       2 * (points[last]->elapsed_ns - points[end]->elapsed_ns) >=
		       points[last]->elapsed_ns - points[0]->elapsed_ns;
}

/* A pool that has been level for at least half of its history is not expected to go on growing. */
bool pool_is_unclear(const struct pool *pool, const struct site_history *history)
{
	const struct history_point *const *points = history->points;
	const struct trend *trend = &history->trend;
	size_t last = history->point_cnt - 1;

	if (!history->point_cnt || points[last]->bytes <= points[0]->bytes ||
	    trend_is_suspect(trend) || trend->tendency == TENDENCY_SHRINKS)
		return false;
	if (trend->tendency == TENDENCY_FLAT)
		return !is_level(pool, history);
	return trend->tendency != TENDENCY_LEVELLED ||
	       2 * trend->since_ns < points[last]->elapsed_ns - points[0]->elapsed_ns;
}
