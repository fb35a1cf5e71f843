// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blames calls from the innermost frames outwards, for all stacks at once, and assigns each site to
 * its innermost blamed call.
 */
#include "report/blame_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/blame.h"

/*
 * Minimum gain of a call, without the gain of blamed inner calls, for the call to be blamed; as a
 * fraction of the call's gain
 */
#define LEAST_OWN 0.5

/* A call that is on the stacks of sites. Gains are bytes gained in the later part of tracing. */
struct call {
	bool is_named; /* the name of the called function must be looked up */
	bool may_be_blamed;
	bool is_blamed;
	/* Gain of all sites with this call; 0 if their sum does not seem to leak. */
	double gained;
	double own;      /* gain of the sites that are not assigned to an inner call */
	double assigned; /* gain of the sites that are assigned to the call */
	size_t paths;    /* number of assigned sites that gained memory */
	bool has_most;
	size_t most; /* index of the assigned site that gained most */
	double most_gained;
};

struct blaming {
	const struct callers *callers;
	struct call *calls; /* one call for each sum of `callers`, with the same index */
	struct candidate *sites;
	size_t cnt;
	/* By site: depth of the innermost call of a function that is no wrapper. */
	uint8_t *first;
	/* For each site, 1 + index of its assigned call; 0 if it is not assigned. */
	uint32_t *assigned;
};

static void blaming_deinit(struct blaming *blaming)
{
	free(blaming->calls);
	free(blaming->first);
	free(blaming->assigned);
}

/*
 * Returns 1 + index of the call at a depth of a site's stack; 0 if there is no call or it is to a
 * wrapper.
 */
static uint32_t call_at(const struct blaming *blaming, size_t site, size_t depth)
{
	const uint32_t *calls = callers_calls(blaming->callers, blaming->sites[site].site);

	return calls && depth >= blaming->first[site] ? calls[depth] : 0;
}

static double gain(const struct blaming *blaming, size_t site, uint32_t number)
{
	const struct site_history *history = blaming->sites[site].growth.history;

	return history ? callers_gain(blaming->callers, number - 1, history) : 0;
}

static bool grows(const struct blaming *blaming, uint32_t number)
{
	return number && callers_grow(blaming->callers, number - 1);
}

/*
 * True if the first call does not seem to leak, but gained at least half as much as the other call.
 */
static bool outweighs(const struct blaming *blaming, uint32_t number, uint32_t other)
{
	const struct growth *growth = blaming->callers->growth;

	return !grows(blaming, number) &&
	       callers_gain(blaming->callers, other - 1, growth[number - 1].history) >=
		       LEAST_OWN * blaming->calls[other - 1].gained;
}

/* Marks the calls on a site's stack whose functions must be named. */
static void mark_calls(struct blaming *blaming, size_t site)
{
	for (size_t i = 0; i < CALLER_CALLS; i++) {
		uint32_t outer = call_at(blaming, site, i);

		if (!grows(blaming, outer))
			continue;
		blaming->calls[outer - 1].is_named = true;
		for (size_t j = 0; j < i; j++) {
			uint32_t inner = call_at(blaming, site, j);

			if (inner && !blaming->calls[inner - 1].is_named)
				blaming->calls[inner - 1].is_named =
					outweighs(blaming, inner, outer);
		}
	}
}

static int judge_name(const struct options *opts, struct blaming *blaming,
		      struct symbol_backend *symbols, size_t sum)
{
	const struct site *site = blaming->callers->items[sum].site;
	cleanup_free const struct sym_location **locations =
		calloc(site->frame_cnt, sizeof(*locations));
	struct report_site shown = {.site = site, .locations = locations};
	size_t at = 0;

	if (!locations)
		return -ENOMEM;
	for (size_t i = 0; i < site->frame_cnt; i++)
		locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	while (site->frames[at] != blaming->callers->items[sum].frame)
		at++;
	blaming->calls[sum].may_be_blamed = blame_may_name(opts, &shown, at);
	return 0;
}

/* Names the growing calls, and the inner calls that outweigh a growing call. */
static int name_calls(const struct options *opts, struct blaming *blaming,
		      struct symbol_backend *symbols, uint64_t deadline_ns)
{
	const struct callers *callers = blaming->callers;
	cleanup_free const struct site **sites = calloc(callers->cnt + 1, sizeof(*sites));
	size_t cnt = 0;
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < blaming->cnt; i++)
		mark_calls(blaming, i);
	for (size_t i = 0; i < callers->cnt; i++)
		if (blaming->calls[i].is_named)
			sites[cnt++] = callers->items[i].site;
	err = cnt ? symbols->prepare(symbols, sites, cnt, deadline_ns) : 0;
	for (size_t i = 0; !err && i < callers->cnt; i++)
		if (blaming->calls[i].is_named)
			err = judge_name(opts, blaming, symbols, i);
	return err;
}

static bool is_among(const uint64_t *frames, size_t cnt, uint64_t frame)
{
	for (size_t i = 0; i < cnt; i++)
		if (frames[i] == frame)
			return true;
	return false;
}

/* Returns the number of innermost calls of a site that are to wrappers. */
static uint8_t wrapped_calls(const struct blaming *blaming, const struct funnels *funnels,
			     const struct site *site)
{
	const uint32_t *calls = callers_calls(blaming->callers, site);
	size_t frame_cnt = calls && calls[0] ? funnels_frame_cnt(funnels, site) : 0;
	uint8_t cnt = 0;

	while (frame_cnt && cnt < CALLER_CALLS && calls[cnt] &&
	       is_among(site->frames, frame_cnt, blaming->callers->items[calls[cnt] - 1].frame))
		cnt++;
	return cnt;
}

static void prepare(struct blaming *blaming, const struct funnels *funnels)
{
	const struct callers *callers = blaming->callers;

	for (size_t i = 0; i < blaming->cnt; i++)
		blaming->first[i] = wrapped_calls(blaming, funnels, blaming->sites[i].site);
	for (size_t i = 0; i < callers->cnt; i++)
		if (callers_grow(callers, i))
			blaming->calls[i].gained =
				callers_gain(callers, i, callers->growth[i].history);
}

static void assign(struct blaming *blaming, size_t site, uint32_t number)
{
	struct call *call = &blaming->calls[number - 1];
	double gained = gain(blaming, site, number);

	blaming->assigned[site] = number;
	call->paths += gained > 0;
	call->assigned += gained;
	if (call->has_most && gained <= call->most_gained)
		return;
	call->has_most = true;
	call->most = site;
	call->most_gained = gained;
}

/*
 * Assigns a site to the innermost blamed call on its stack, if one is at most `depth` deep; depth 0
 * is the innermost call.
 */
static void assign_up_to(struct blaming *blaming, size_t site, size_t depth)
{
	for (size_t i = 0; i <= depth && !blaming->assigned[site]; i++) {
		uint32_t number = call_at(blaming, site, i);

		if (number && blaming->calls[number - 1].is_blamed)
			assign(blaming, site, number);
	}
}

/*
 * Assigns each site of a chunk pool to the call of the pool's function. Blames this call only if
 * its sum grows.
 */
static void assign_chunk_pools(struct blaming *blaming, const struct chunk_pools *pools)
{
	for (size_t i = 0; i < blaming->cnt; i++) {
		const struct site *site = blaming->sites[i].site;
		const struct chunk_pool *pool = chunk_pools_find(pools, site);
		size_t sum =
			pool ? callers_find(blaming->callers, site, pool->frame_cnt - 1) : SIZE_MAX;

		if (sum == SIZE_MAX)
			continue;
		if (callers_grow(blaming->callers, sum))
			assign(blaming, i, (uint32_t)sum + 1);
		else
			blaming->assigned[i] = (uint32_t)sum + 1;
	}
}

/* True if an inner call on a site's stack may be blamed and outweighs the site's call `number`. */
static bool is_explained(const struct blaming *blaming, size_t site, size_t depth, uint32_t number)
{
	for (size_t i = 0; i < depth; i++) {
		uint32_t inner = call_at(blaming, site, i);

		if (inner && blaming->calls[inner - 1].may_be_blamed &&
		    outweighs(blaming, inner, number))
			return true;
	}
	return false;
}

/*
 * Decides which calls at one depth are blamed, over all stacks. All lower depths have been decided.
 */
static void blame_at(struct blaming *blaming, size_t depth)
{
	for (size_t i = 0; i < blaming->cnt; i++) {
		uint32_t number = call_at(blaming, i, depth);
		struct call *call;

		if (blaming->assigned[i] || !grows(blaming, number) ||
		    is_explained(blaming, i, depth, number))
			continue;
		call = &blaming->calls[number - 1];
		call->own += gain(blaming, i, number);
		call->is_blamed |= call->may_be_blamed && call->gained > 0 &&
				   call->own >= LEAST_OWN * call->gained;
	}
	for (size_t i = 0; i < blaming->cnt; i++)
		if (!blaming->assigned[i])
			assign_up_to(blaming, i, depth);
}

static struct candidate candidate_of(const struct blaming *blaming, size_t sum)
{
	const struct call *call = &blaming->calls[sum];
	struct candidate ret = blaming->sites[call->most];

	while (ret.site->frames[ret.blamed_from] != blaming->callers->items[sum].frame)
		ret.blamed_from++;
	ret.growth.history = blaming->callers->growth[sum].history;
	ret.path_cnt = call->paths;
	ret.callers_vary = call->most_gained < LEAST_OWN * call->assigned;
	return ret;
}

/* Replaces all sites that are assigned to a blamed call by one candidate. */
static int replace_sites(const struct blaming *blaming, size_t *cnt)
{
	const struct callers *callers = blaming->callers;
	cleanup_free struct candidate *blamed = calloc(blaming->cnt + 1, sizeof(*blamed));
	size_t blamed_cnt = 0, kept = 0;

	if (!blamed)
		return -ENOMEM;
	for (size_t i = 0; i < callers->cnt; i++)
		if (blaming->calls[i].has_most)
			blamed[blamed_cnt++] = candidate_of(blaming, i);
	for (size_t i = 0; i < blaming->cnt; i++)
		if (!blaming->assigned[i])
			blaming->sites[kept++] = blaming->sites[i];
	for (size_t i = 0; i < blamed_cnt; i++)
		blaming->sites[kept++] = blamed[i];
	*cnt = kept;
	return 0;
}

int blame_sums(const struct options *opts, const struct callers *callers,
	       const struct funnels *funnels, const struct chunk_pools *pools,
	       struct symbol_backend *symbols, uint64_t deadline_ns, struct candidate *sites,
	       size_t *cnt)
{
	struct blaming blaming = {
		.callers = callers,
		.calls = calloc(callers->cnt + 1, sizeof(*blaming.calls)),
		.sites = sites,
		.cnt = *cnt,
		.first = calloc(*cnt + 1, sizeof(*blaming.first)),
		.assigned = calloc(*cnt + 1, sizeof(*blaming.assigned)),
	};
	int err = blaming.calls && blaming.first && blaming.assigned ? 0 : -ENOMEM;

	if (!err)
		prepare(&blaming, funnels);
	if (!err && symbols)
		err = name_calls(opts, &blaming, symbols, deadline_ns);
	if (!err) {
		assign_chunk_pools(&blaming, pools);
		for (size_t depth = 0; depth < CALLER_CALLS; depth++)
			blame_at(&blaming, depth);
		err = replace_sites(&blaming, cnt);
	}
	blaming_deinit(&blaming);
	return err;
}
