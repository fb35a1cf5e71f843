// SPDX-License-Identifier: GPL-2.0-or-later
/* Goes outwards over all stacks at once, and gives each site to the first call that grows by it. */
#include "report/accused.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/blame.h"

/* Part of what a call gained that must not be given to calls further inside. */
#define LEAST_OWN 0.5

/* Facts about a call. */
struct charge {
	bool is_named;
	bool may_be_blamed;
	bool is_accused;
	double gained; /* bytes, of all sites behind the call; 0 if it does not seem to leak */
	double own;    /* of those that were not given to a call further inside */
	double given;  /* of those that were given to it */
	size_t paths;  /* sites that were given to it and have gained something */
	bool has_most;
	size_t most; /* the site given to it that gained most */
	double most_gained;
};

struct hearing {
	const struct callers *callers;
	struct charge *charges; /* of each sum */
	struct candidate *sites;
	size_t cnt;
	uint8_t *first;  /* of each site: its calls before this one only get memory for others */
	uint32_t *given; /* of each site: the number of the sum that it was given to; 0: none */
};

static void hearing_deinit(struct hearing *hearing)
{
	free(hearing->charges);
	free(hearing->first);
	free(hearing->given);
}

/* The number of a site's call, from the innermost outwards; 0: there is none, or a wrapper's. */
static uint32_t call_at(const struct hearing *hearing, size_t site, size_t depth)
{
	const uint32_t *calls = callers_calls(hearing->callers, hearing->sites[site].site);

	return calls && depth >= hearing->first[site] ? calls[depth] : 0;
}

static double gain(const struct hearing *hearing, size_t site, uint32_t number)
{
	const struct site_history *history = hearing->sites[site].growth.history;

	return history ? callers_gain(hearing->callers, number - 1, history) : 0;
}

static bool grows(const struct hearing *hearing, uint32_t number)
{
	return number && callers_grow(hearing->callers, number - 1);
}

/* True if a call does not grow, though it gained what another one did, or most of that. */
static bool outweighs(const struct hearing *hearing, uint32_t number, uint32_t other)
{
	const struct growth *growth = hearing->callers->growth;

	return !grows(hearing, number) &&
	       callers_gain(hearing->callers, other - 1, growth[number - 1].history) >=
		       LEAST_OWN * hearing->charges[other - 1].gained;
}

/* Marks the calls of a site whose names matter. */
static void mark_calls(struct hearing *hearing, size_t site)
{
	for (size_t i = 0; i < CALLER_CALLS; i++) {
		uint32_t outer = call_at(hearing, site, i);

		if (!grows(hearing, outer))
			continue;
		hearing->charges[outer - 1].is_named = true;
		for (size_t j = 0; j < i; j++) {
			uint32_t inner = call_at(hearing, site, j);

			if (inner && !hearing->charges[inner - 1].is_named)
				hearing->charges[inner - 1].is_named =
					outweighs(hearing, inner, outer);
		}
	}
}

static int judge_name(const struct options *opts, struct hearing *hearing,
		      struct symbol_backend *symbols, size_t sum)
{
	const struct site *site = &hearing->callers->sums[sum];
	cleanup_free const struct sym_location **locations =
		calloc(site->frame_cnt, sizeof(*locations));
	struct report_site shown = {.site = site, .locations = locations};
	size_t at = 0;

	if (!locations)
		return -ENOMEM;
	for (size_t i = 0; i < site->frame_cnt; i++)
		locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	while (site->frames[at] != hearing->callers->frames[sum])
		at++;
	hearing->charges[sum].may_be_blamed = blame_may_name(opts, &shown, at);
	return 0;
}

/* Names the calls that grow, and those further inside that outweigh them. */
static int name_calls(const struct options *opts, struct hearing *hearing,
		      struct symbol_backend *symbols, uint64_t deadline_ns)
{
	const struct callers *callers = hearing->callers;
	cleanup_free const struct site **sums = calloc(callers->cnt + 1, sizeof(*sums));
	size_t cnt = 0;
	int err;

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < hearing->cnt; i++)
		mark_calls(hearing, i);
	for (size_t i = 0; i < callers->cnt; i++)
		if (hearing->charges[i].is_named)
			sums[cnt++] = &callers->sums[i];
	err = cnt ? symbols->prepare(symbols, sums, cnt, deadline_ns) : 0;
	for (size_t i = 0; !err && i < cnt; i++)
		err = judge_name(opts, hearing, symbols, (size_t)(sums[i] - callers->sums));
	return err;
}

static bool is_among(const uint64_t *frames, size_t cnt, uint64_t frame)
{
	for (size_t i = 0; i < cnt; i++)
		if (frames[i] == frame)
			return true;
	return false;
}

/* How many of a site's calls only get memory for others. */
static uint8_t wrapped_calls(const struct hearing *hearing, const struct funnels *funnels,
			     const struct site *site)
{
	const uint32_t *calls = callers_calls(hearing->callers, site);
	size_t frame_cnt = calls && calls[0] ? funnels_frame_cnt(funnels, site) : 0;
	uint8_t cnt = 0;

	while (frame_cnt && cnt < CALLER_CALLS && calls[cnt] &&
	       is_among(site->frames, frame_cnt, hearing->callers->frames[calls[cnt] - 1]))
		cnt++;
	return cnt;
}

static void prepare(struct hearing *hearing, const struct funnels *funnels)
{
	const struct callers *callers = hearing->callers;

	for (size_t i = 0; i < hearing->cnt; i++)
		hearing->first[i] = wrapped_calls(hearing, funnels, hearing->sites[i].site);
	for (size_t i = 0; i < callers->cnt; i++)
		if (callers_grow(callers, i))
			hearing->charges[i].gained =
				callers_gain(callers, i, callers->growth[i].history);
}

static void give(struct hearing *hearing, size_t site, uint32_t number)
{
	struct charge *charge = &hearing->charges[number - 1];
	double gained = gain(hearing, site, number);

	hearing->given[site] = number;
	charge->paths += gained > 0;
	charge->given += gained;
	if (charge->has_most && gained <= charge->most_gained)
		return;
	charge->has_most = true;
	charge->most = site;
	charge->most_gained = gained;
}

/* Gives a site to the innermost accused call that it has up to a depth. */
static void give_up_to(struct hearing *hearing, size_t site, size_t depth)
{
	for (size_t i = 0; i <= depth && !hearing->given[site]; i++) {
		uint32_t number = call_at(hearing, site, i);

		if (number && hearing->charges[number - 1].is_accused)
			give(hearing, site, number);
	}
}

/* True if a function further inside has what a site's call gained, and does not grow. */
static bool is_cleared(const struct hearing *hearing, size_t site, size_t depth, uint32_t number)
{
	for (size_t i = 0; i < depth; i++) {
		uint32_t inner = call_at(hearing, site, i);

		if (inner && hearing->charges[inner - 1].may_be_blamed &&
		    outweighs(hearing, inner, number))
			return true;
	}
	return false;
}

/* Hears the calls that stand at a depth of stacks. */
static void hear(struct hearing *hearing, size_t depth)
{
	for (size_t i = 0; i < hearing->cnt; i++) {
		uint32_t number = call_at(hearing, i, depth);
		struct charge *charge;

		if (hearing->given[i] || !grows(hearing, number) ||
		    is_cleared(hearing, i, depth, number))
			continue;
		charge = &hearing->charges[number - 1];
		charge->own += gain(hearing, i, number);
		charge->is_accused |= charge->may_be_blamed && charge->gained > 0 &&
				      charge->own >= LEAST_OWN * charge->gained;
	}
	for (size_t i = 0; i < hearing->cnt; i++)
		if (!hearing->given[i])
			give_up_to(hearing, i, depth);
}

static struct candidate candidate_of(const struct hearing *hearing, size_t sum)
{
	const struct charge *charge = &hearing->charges[sum];
	struct candidate ret = hearing->sites[charge->most];

	while (ret.site->frames[ret.blamed_from] != hearing->callers->frames[sum])
		ret.blamed_from++;
	ret.growth.history = hearing->callers->growth[sum].history;
	ret.path_cnt = charge->paths;
	ret.callers_vary = charge->most_gained < LEAST_OWN * charge->given;
	return ret;
}

/* Puts the accused in the place of the sites that were given to them. */
static int conclude(const struct hearing *hearing, size_t *cnt)
{
	const struct callers *callers = hearing->callers;
	cleanup_free struct candidate *accused = calloc(hearing->cnt + 1, sizeof(*accused));
	size_t accused_cnt = 0, kept = 0;

	if (!accused)
		return -ENOMEM;
	for (size_t i = 0; i < callers->cnt; i++)
		if (hearing->charges[i].has_most)
			accused[accused_cnt++] = candidate_of(hearing, i);
	for (size_t i = 0; i < hearing->cnt; i++)
		if (!hearing->given[i])
			hearing->sites[kept++] = hearing->sites[i];
	for (size_t i = 0; i < accused_cnt; i++)
		hearing->sites[kept++] = accused[i];
	*cnt = kept;
	return 0;
}

int accuse_callers(const struct options *opts, const struct callers *callers,
		   const struct funnels *funnels, struct symbol_backend *symbols,
		   uint64_t deadline_ns, struct candidate *sites, size_t *cnt)
{
	struct hearing hearing = {
		.callers = callers,
		.charges = calloc(callers->cnt + 1, sizeof(*hearing.charges)),
		.sites = sites,
		.cnt = *cnt,
		.first = calloc(*cnt + 1, sizeof(*hearing.first)),
		.given = calloc(*cnt + 1, sizeof(*hearing.given)),
	};
	int err = hearing.charges && hearing.first && hearing.given ? 0 : -ENOMEM;

	if (!err)
		prepare(&hearing, funnels);
	if (!err && symbols)
		err = name_calls(opts, &hearing, symbols, deadline_ns);
	if (!err) {
		for (size_t depth = 0; depth < CALLER_CALLS; depth++)
			hear(&hearing, depth);
		err = conclude(&hearing, cnt);
	}
	hearing_deinit(&hearing);
	return err;
}
