// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names the growing paths, sorts them by the function to blame and by its callers, and joins
 * adjacent paths.
 */
#include "report/joined_paths.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"
#include "report/blame.h"
#include "report/function_hash.h"
#include "report/naming.h"

/* Callers are shown if they have more than this fraction of the growth. */
#define LEAST_COMMON 0.5

/*
 * Minimum number of callers of an inlined pool. It is less than for other pools (chunk_pools.c),
 * because a mistake never puts the blame on another function.
 */
#define LEAST_CALLERS 6

/* A growing path. The hashes include the process and thread, except those of callers. */
struct path {
	size_t at;                          /* index of the path's candidate */
	const struct site_history *history; /* history of the candidate */
	uint64_t function; /* hash of the blamed function; 0 if the path is not to be joined */
	uint64_t name;    /* hash of the function's name; differs between instances of a template */
	uint64_t caller;  /* hash of the function's caller; 0 if the path has no caller to show */
	uint64_t callers; /* hash of all callers of the function that may be shown */
	bool is_inlined;  /* true if the blamed function is inlined */
	/* Paths that may take chunks for one unknown function have the same hash; 0: cannot. */
	uint64_t pool;
};

struct joining {
	const struct candidate *candidates;
	struct path *paths;
	size_t cnt;
	struct candidate *made; /* the candidates that replace joined paths */
	size_t made_cnt;
	bool *is_replaced; /* for each candidate */
	struct joined_histories joined;
};

static const struct history_point *now_of(const struct path *path)
{
	return path->history->points[path->history->point_cnt - 1];
}

static uint64_t size_of(const struct path *path)
{
	return chunk_size(now_of(path)->bytes, now_of(path)->count);
}

static double rate_of(const struct path *path)
{
	return path->history->trend.bytes_per_s;
}

/* Returns the part of the paths' growth for which inner functions are blamed. */
static double blamed_inside(const struct joining *joining, const struct path *paths, size_t cnt)
{
	double whole = 0, inside = 0;

	for (size_t i = 0; i < cnt; i++) {
		whole += rate_of(&paths[i]);
		inside += joining->candidates[paths[i].at].blamed_inside * rate_of(&paths[i]);
	}
	return whole > 0 ? inside / whole : 0;
}

static uint64_t hash_owner(const struct site *site, uint64_t hash)
{
	return hash_word(hash_word(hash, site->process->image), (uint64_t)site->tid) ?: 1;
}

static const struct sym_frame *function_at(const struct report_site *shown, struct stack_pos pos)
{
	return &shown->locations[pos.frame]->frames[pos.function];
}

/* Sets the hashes of the callers. */
static void find_callers(const struct report_site *shown, struct path *path)
{
	struct stack_pos pos = shown->blamed;

	while (blame_next_caller(shown, &pos)) {
		uint64_t hash = function_hash(function_at(shown, pos), shown->locations[pos.frame]);

		path->caller = path->caller ?: hash;
		path->callers = hash_word(path->callers, hash);
	}
}

/*
 * True if a path may take chunks for a pool whose function is not known: the blamed function calls
 * the allocator, and its source is not known.
 */
static bool may_hide_pool(const struct report_site *shown, const struct path *path)
{
	return shown->blamed.frame == shown->first_frame && !shown->blamed.function &&
	       !function_at(shown, shown->blamed)->file && size_of(path) >= LEAST_CHUNK &&
	       !history_freed(path->history, 0);
}

/* Sets the hashes of a path. Its frames are named. */
static void judge(const struct options *opts, const struct report_site *shown, struct path *path)
{
	const struct site *site = shown->site;
	const struct sym_location *location = shown->locations[shown->blamed.frame];
	const struct sym_frame *frame;

	if (!location || !location->module || !location->frame_cnt)
		return;
	frame = function_at(shown, shown->blamed);
	if (code_owner(opts, &shown->program, location, frame) != CODE_OF_PROGRAM)
		return;
	path->name = sym_is_known(frame->symbol)
			     ? hash_text(0, frame->symbol)
			     : hash_text(location->module_offset, function_file(location));
	path->function = hash_owner(
		site, sym_is_known(frame->symbol) ? function_hash(frame, location) : path->name);
	path->is_inlined = shown->blamed.function + 1 < location->frame_cnt;
	find_callers(shown, path);
	if (may_hide_pool(shown, path))
		path->pool = hash_owner(
			site, hash_word(hash_text(site->kind, location->module), size_of(path)));
}

static int name_path(const struct options *opts, const struct funnels *funnels,
		     struct symbol_backend *symbols, const struct candidate *candidate,
		     struct path *path)
{
	const struct site *site = candidate->site;
	cleanup_free const struct sym_location **locations =
		calloc(site->frame_cnt, sizeof(*locations));
	struct report_site shown = {
		.site = site,
		.locations = locations,
		.wrapped_frame = funnels_frame_cnt(funnels, site),
		.blamed_from = candidate->blamed_from,
		.common_callers = candidate->common_callers,
	};

	if (!locations)
		return -ENOMEM;
	report_site_name(opts, symbols, NULL, &shown);
	judge(opts, &shown, path);
	return 0;
}

/*
 * True for a growing path, unless it is a pool of a runtime (pools.h) or belongs to a chunk pool,
 * whose function is known already.
 */
static bool may_be_joined(const struct callers *callers, const struct chunk_pools *pools,
			  const struct candidate *candidate)
{
	const uint32_t *calls = callers_calls(callers, candidate->site);

	return calls && *calls && candidate_is_suspect(candidate) &&
	       !chunk_pools_find(pools, candidate->site);
}

static int name_paths(const struct options *opts, const struct funnels *funnels,
		      struct symbol_backend *symbols, uint64_t deadline_ns, struct joining *joining)
{
	cleanup_free const struct site **sites = calloc(joining->cnt + 1, sizeof(*sites));
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < joining->cnt; i++)
		sites[i] = joining->candidates[joining->paths[i].at].site;
	err = symbols->prepare(symbols, sites, joining->cnt, deadline_ns);
	for (size_t i = 0; !err && i < joining->cnt; i++)
		err = name_path(opts, funnels, symbols, &joining->candidates[joining->paths[i].at],
				&joining->paths[i]);
	return err;
}

static int by_function(const void *left, const void *right)
{
	const struct path *a = left, *b = right;

	return ORDER(a->function, b->function) ?: ORDER(a->caller, b->caller)
		       ?: ORDER(a->callers, b->callers) ?: ORDER(a->at, b->at);
}

static int by_pool(const void *left, const void *right)
{
	const struct path *a = left, *b = right;

	return ORDER(a->pool, b->pool) ?: by_function(left, right);
}

static uint64_t hash_at(const struct path *path, size_t offset)
{
	return *(const uint64_t *)((const char *)path + offset);
}

/*
 * Returns the number of adjacent paths, from the first one on, with the same hash. `offset` is that
 * of the hash in struct path.
 */
static size_t run_of(const struct path *paths, size_t cnt, size_t offset)
{
	size_t ret = 1;

	while (ret < cnt && hash_at(&paths[ret], offset) == hash_at(paths, offset))
		ret++;
	return ret;
}

#define RUN(paths, cnt, hash) run_of((paths), (cnt), offsetof(struct path, hash))

static double rates_of(const struct path *paths, size_t cnt)
{
	double ret = 0;

	for (size_t i = 0; i < cnt; i++)
		ret += rate_of(&paths[i]);
	return ret;
}

static const struct path *fastest_of(const struct path *paths, size_t cnt)
{
	const struct path *ret = paths;

	for (size_t i = 1; i < cnt; i++)
		if (rate_of(&paths[i]) > rate_of(ret) ||
		    (rate_of(&paths[i]) >= rate_of(ret) && paths[i].at < ret->at))
			ret = &paths[i];
	return ret;
}

/*
 * Returns the path whose stack is shown, and sets `common` to the callers that have more than half
 * of the growth. The paths are sorted by callers.
 */
static const struct path *shown_path(const struct joining *joining, const struct path *paths,
				     size_t cnt, enum common_callers *common)
{
	double least = LEAST_COMMON * rates_of(paths, cnt);

	for (size_t i = 0, one; i < cnt; i += one) {
		one = RUN(paths + i, cnt - i, caller);
		if (!paths[i].caller || rates_of(paths + i, one) <= least)
			continue;
		*common = CALLERS_ONE;
		for (size_t j = i, all; j < i + one; j += all) {
			const struct path *fastest;

			all = RUN(paths + j, i + one - j, callers);
			if (rates_of(paths + j, all) <= least)
				continue;
			fastest = fastest_of(paths + j, all);
			*common = joining->candidates[fastest->at].common_callers;
			return fastest;
		}
		return fastest_of(paths + i, one);
	}
	*common = CALLERS_NONE;
	return fastest_of(paths, cnt);
}

static bool have_instances(const struct path *paths, size_t cnt)
{
	for (size_t i = 1; i < cnt; i++)
		if (paths[i].name != paths->name)
			return true;
	return false;
}

/* Replaces the paths by one candidate, unless their sum does not seem to leak. */
static int join(struct joining *joining, struct path *paths, size_t cnt,
		const struct chunks *chunks)
{
	cleanup_free const struct site_history **parts = calloc(cnt, sizeof(*parts));
	struct site_history *sum = &joining->joined.items[joining->joined.cnt];
	struct candidate *made = &joining->made[joining->made_cnt];
	enum common_callers common;
	size_t path_cnt = 0;
	int err;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		parts[i] = paths[i].history;
	err = history_join(parts, cnt, sum);
	if (err)
		return err;
	joining->joined.cnt++;
	if (!trend_is_suspect(&sum->trend))
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		path_cnt += joining->candidates[paths[i].at].path_cnt ?: 1;
		joining->is_replaced[paths[i].at] = true;
		paths[i].function = 0;
	}
	*made = joining->candidates[shown_path(joining, paths, cnt, &common)->at];
	made->growth.history = sum;
	made->path_cnt = path_cnt;
	made->blamed_inside = blamed_inside(joining, paths, cnt);
	made->common_callers = chunks->bytes ? CALLERS_NONE : common;
	made->chunks = *chunks;
	made->has_instances = chunks->function != POOL_UNKNOWN && have_instances(paths, cnt);
	joining->made_cnt++;
	return 0;
}

/*
 * Judges the use of a possible chunk pool. The paths are sorted by the pool's callers: the blamed
 * functions if `function` is POOL_UNKNOWN, otherwise their callers. Returns all 0 if there is no
 * pool.
 */
static struct chunks chunks_of(const struct path *paths, size_t cnt, enum pool_function function)
{
	struct size_vote vote = {0};
	struct chunk_use use = {0};

	for (size_t i = 0; i < cnt; i++)
		size_vote_add(&vote, size_of(&paths[i]), now_of(&paths[i])->bytes);
	for (size_t first = 0, end, run; first < cnt; first = end) {
		double bytes = 0;

		run = function == POOL_UNKNOWN ? RUN(paths + first, cnt - first, function)
					       : RUN(paths + first, cnt - first, caller);
		end = first + run;
		for (size_t i = first; i < end; i++) {
			bytes += (double)now_of(&paths[i])->bytes;
			if (size_of(&paths[i]) == vote.size)
				use.usual += (double)now_of(&paths[i])->bytes;
		}
		chunk_use_add(&use, bytes, rates_of(paths + first, run));
	}
	return vote.size >= LEAST_CHUNK && chunk_use_is_pool(&use, LEAST_CALLERS)
		       ? (struct chunks){vote.size, use.callers, function}
		       : (struct chunks){0};
}

/* Joins paths that take chunks for a pool whose function is not known. */
static int join_unknown_pools(struct joining *joining)
{
	struct path *paths = joining->paths;
	int err = 0;

	qsort(paths, joining->cnt, sizeof(*paths), by_pool);
	for (size_t i = 0, run; !err && i < joining->cnt; i += run) {
		struct chunks chunks = {0};

		run = RUN(paths + i, joining->cnt - i, pool);
		if (paths[i].pool)
			chunks = chunks_of(paths + i, run, POOL_UNKNOWN);
		if (chunks.bytes)
			err = join(joining, paths + i, run, &chunks);
	}
	return err;
}

static bool are_inlined(const struct path *paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!paths[i].is_inlined)
			return false;
	return true;
}

/* Joins paths of one function. */
static int join_functions(struct joining *joining)
{
	struct path *paths = joining->paths;
	int err = 0;

	qsort(paths, joining->cnt, sizeof(*paths), by_function);
	for (size_t i = 0, run; !err && i < joining->cnt; i += run) {
		struct chunks chunks = {0};

		run = RUN(paths + i, joining->cnt - i, function);
		if (run == 1 || !paths[i].function)
			continue;
		if (are_inlined(paths + i, run))
			chunks = chunks_of(paths + i, run, POOL_INLINED);
		err = join(joining, paths + i, run, &chunks);
	}
	return err;
}

static void replace(const struct joining *joining, struct candidate *candidates, size_t *cnt)
{
	size_t kept = 0;

	for (size_t i = 0; i < *cnt; i++)
		if (!joining->is_replaced[i])
			candidates[kept++] = candidates[i];
	for (size_t i = 0; i < joining->made_cnt; i++)
		candidates[kept++] = joining->made[i];
	*cnt = kept;
}

/* Lists the paths that may be joined. */
static int list_paths(const struct callers *callers, const struct chunk_pools *pools, size_t cnt,
		      struct joining *joining)
{
	size_t most = 0, at = 0;

	for (size_t i = 0; i < cnt; i++)
		most += may_be_joined(callers, pools, &joining->candidates[i]);
	joining->paths = calloc(most + 1, sizeof(*joining->paths));
	joining->made = calloc(most + 1, sizeof(*joining->made));
	joining->is_replaced = calloc(cnt + 1, sizeof(*joining->is_replaced));
	joining->joined.items = calloc(most + 1, sizeof(*joining->joined.items));
	if (!joining->paths || !joining->made || !joining->is_replaced || !joining->joined.items)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (may_be_joined(callers, pools, &joining->candidates[i]))
			joining->paths[at++] = (struct path){
				.at = i, .history = joining->candidates[i].growth.history};
	joining->cnt = at;
	return 0;
}

int joined_paths_init(const struct options *opts, const struct callers *callers,
		      const struct funnels *funnels, const struct chunk_pools *pools,
		      struct symbol_backend *symbols, uint64_t deadline_ns,
		      struct candidate *candidates, size_t *cnt, struct joined_histories *ret)
{
	struct joining joining = {.candidates = candidates};
	int err = list_paths(callers, pools, *cnt, &joining);

	if (!err && joining.cnt > 1)
		err = name_paths(opts, funnels, symbols, deadline_ns, &joining);
	if (!err && joining.cnt > 1)
		err = join_unknown_pools(&joining) ?: join_functions(&joining);
	if (err) {
		joined_histories_deinit(&joining.joined);
	} else {
		replace(&joining, candidates, cnt);
		*ret = joining.joined;
	}
	free(joining.paths);
	free(joining.made);
	free(joining.is_replaced);
	return err;
}
