// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blames calls from the innermost frames outwards, for all stacks at the same time, and assigns
 * each site to its innermost blamed call. Afterwards, if the growth of an outer call is spread over
 * many functions, the sites of these functions are reassigned to the outer call.
 */
#include "report/blame_sums.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "base/order.h"
#include "report/blame.h"
#include "report/call_copies.h"
#include "report/function_hash.h"

/*
 * Minimum own gain of a blamed call, as a fraction of its whole gain. The own gain is the gain of
 * the sites that no inner call explains.
 */
#define LEAST_OWN 0.5
/*
 * Minimum gain, as a fraction of the gain of a growing call further out, for which a call that does
 * not seem to leak is named, to find out whether it has copies.
 */
#define LEAST_COPY (1.0 / 256)
/*
 * A caller is blamed instead of a call if at least LEAST_THROUGH of the call's gain comes through
 * the caller, while the call's other sites have at least LEAST_OTHER of its blocks, at least
 * LEAST_OTHER_BLOCKS, but gain per block at most a fraction of MOST_OTHER_GAIN of the whole call.
 */
#define LEAST_THROUGH 0.9
#define LEAST_OTHER 0.05
#define LEAST_OTHER_BLOCKS 8
#define MOST_OTHER_GAIN 0.25
/*
 * The growth of an outer function's calls is spread over many functions if at least
 * SPREAD_FUNCTIONS inner functions together are blamed for most of it, and no single function is
 * blamed for more than SPREAD_MOST of it or SPREAD_MEANS times the average, whichever is larger.
 * This limit does not apply to what a function allocates for other blamed functions. If most of the
 * blocks below the outer function are those of blamed functions, FEW_FUNCTIONS are enough.
 */
#define SPREAD_FUNCTIONS 8
#define FEW_FUNCTIONS 5
#define SPREAD_MOST (1.0 / 16)
#define SPREAD_MEANS 2.0

/*
 * A call on the stacks of one or more sites. The call's function is the function at the call's
 * frame, which contains the return address. Gains are growth in bytes in the later part of tracing.
 */
struct call {
	bool is_named; /* true if the name of the call's function is needed */
	bool may_be_blamed;
	bool is_main;
	bool is_blamed;
	bool is_in_whole;  /* true if whole_of() has counted the call */
	bool is_listed;    /* true if one candidate replaces the sites assigned to the call */
	uint64_t function; /* hash of the name and file of the call's function */
	uint64_t copies;   /* key for call_copies_join(); 0 if the call must not be joined */
	/* Gain of all sites with this call; 0 if their sum does not seem to leak. */
	double gained;
	double own;      /* gain of the sites that no inner call explains */
	double assigned; /* gain of the sites that are assigned to the call */
	bool has_keeper; /* true if functions further out keep the memory of the assigned sites */
	bool stays;      /* true if these functions are not to blame */
	double kept;     /* gain of the sites for which the call may be blamed instead */
	double inside;   /* gain of the sites that are assigned to inner calls */
	size_t paths;    /* number of assigned sites that gained memory */
	bool has_most;
	size_t most; /* index of the assigned site whose memory grew most */
	double most_gained;
	/*
	 * If one caller of this call accounts for more than half of the assigned gain, `caller` is
	 * that caller (majority vote of Boyer and Moore). by_caller is the gain of the assigned
	 * sites with this caller, and most_by_caller is the index of the site that gained most
	 * among them.
	 */
	uint32_t caller;
	double votes;
	double by_caller;
	size_t most_by_caller;
	double most_by_caller_gained;
};

struct blaming {
	const struct callers *callers;
	struct call *calls; /* one entry for each sum of `callers`, at the same index */
	/* For each call, 1 + index of its first copy (call_copies.h); 0 if it is not known. */
	uint32_t *first_copy;
	struct candidate *sites;
	size_t cnt;
	/* For each site, depth of the innermost call whose function is in no funnel (funnels.h). */
	uint8_t *first;
	/* For each site, 1 + index of its assigned call; 0 if it is not assigned. */
	uint32_t *assigned;
	struct hash_map blamed; /* functions with a blamed call */
	struct hash_map spread; /* functions whose growth is spread over many functions */
	bool has_growing;       /* true if a call grows; otherwise, none can be blamed */
	bool has_blamed;
};

static void blaming_deinit(struct blaming *blaming)
{
	free(blaming->calls);
	free(blaming->first_copy);
	free(blaming->first);
	free(blaming->assigned);
	hash_map_deinit(&blaming->blamed);
	hash_map_deinit(&blaming->spread);
}

/* Returns the number of the first copy of the call `number`; 0 if `number` is 0. */
static uint32_t first_copy(const struct blaming *blaming, uint32_t number)
{
	return number && blaming->first_copy[number - 1] ? blaming->first_copy[number - 1] : number;
}

/*
 * Returns 1 + index of the call at a depth of a site's stack, or of its first copy; 0 if there is
 * no call, or if the call's function is in a funnel (funnels.h).
 */
static uint32_t call_at(const struct blaming *blaming, size_t site, size_t depth)
{
	const uint32_t *calls = callers_calls(blaming->callers, blaming->sites[site].site);

	return calls && depth >= blaming->first[site] ? first_copy(blaming, calls[depth]) : 0;
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
 * True if the call `number` does not seem to leak, but gained at least the fraction `least` of what
 * the call `other` gained.
 */
static bool has_part(const struct blaming *blaming, uint32_t number, uint32_t other, double least)
{
	const struct growth *growth = blaming->callers->growth;

	return !grows(blaming, number) &&
	       callers_gain(blaming->callers, other - 1, growth[number - 1].history) >=
		       least * blaming->calls[other - 1].gained;
}

/*
 * Marks the calls on a site's stack whose functions must be named: growing calls, and calls that
 * have a part of the gain of a growing call further out: they may outweigh it, or be copies.
 */
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
					has_part(blaming, inner, outer, LEAST_COPY);
		}
	}
}

/* Returns the key of a call for call_copies_join(): its place in its function. */
static uint64_t copies_key(const struct site *site, const struct sym_frame *frame,
			   const struct call *call)
{
	uint64_t place = hash_word(hash_text(call->function, frame->symbol), frame->offset);

	return hash_word(hash_word(place, site->process->image), (uint64_t)site->tid) ?: 1;
}

static int judge_name(const struct options *opts, struct blaming *blaming,
		      struct symbol_backend *symbols, size_t sum)
{
	const struct site *site = blaming->callers->items[sum].site;
	cleanup_free const struct sym_location **locations =
		calloc(site->frame_cnt, sizeof(*locations));
	struct report_site shown = {.site = site, .locations = locations};
	struct call *call = &blaming->calls[sum];
	const char *symbol;
	size_t at = 0;

	if (!locations)
		return -ENOMEM;
	for (size_t i = 0; i < site->frame_cnt; i++)
		locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	while (site->frames[at] != blaming->callers->items[sum].frame)
		at++;
	call->may_be_blamed = blame_may_name(opts, &shown, at);
	symbol = sym_outermost_symbol(locations[at]);
	if (symbol) {
		call->is_main = !strcmp(symbol, "main");
		call->function = function_hash(sym_outermost(locations[at]), locations[at]);
		if (call->may_be_blamed && !sym_is_script(locations[at]))
			call->copies = copies_key(site, sym_outermost(locations[at]), call);
	}
	return 0;
}

/* Looks up the names of growing calls, and of inner calls that outweigh a growing call. */
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

/* Returns the depth, on a site's stack, of the innermost call whose function is in no funnel. */
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

static void measure_gains(struct blaming *blaming)
{
	const struct callers *callers = blaming->callers;

	for (size_t i = 0; i < callers->cnt; i++) {
		bool is_growing = callers_grow(callers, i);

		blaming->has_growing |= is_growing;
		blaming->calls[i].gained =
			is_growing ? callers_gain(callers, i, callers->growth[i].history) : 0;
	}
}

static void prepare(struct blaming *blaming, const struct funnels *funnels)
{
	for (size_t i = 0; i < blaming->cnt; i++)
		blaming->first[i] = wrapped_calls(blaming, funnels, blaming->sites[i].site);
	measure_gains(blaming);
}

/* Joins the copies of calls. Calls must have names. */
static int join_copies(struct blaming *blaming, struct callers *callers,
		       struct joined_histories *ret)
{
	cleanup_free uint64_t *keys = calloc(callers->cnt + 1, sizeof(*keys));
	int err;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < callers->cnt; i++)
		keys[i] = blaming->calls[i].copies;
	err = call_copies_join(callers, keys, blaming->first_copy, ret);
	if (!err)
		measure_gains(blaming);
	return err;
}

static void assign(struct blaming *blaming, size_t site, uint32_t number)
{
	blaming->assigned[site] = number;
	blaming->calls[number - 1].is_listed = true;
}

/*
 * Returns the number of the next call outwards after the call `number` on a site's stack; 0 if
 * there is none, or if it is not known.
 */
static uint32_t caller_of(const struct blaming *blaming, size_t site, uint32_t number)
{
	const uint32_t *calls = callers_calls(blaming->callers, blaming->sites[site].site);

	for (size_t i = 0; calls && i + 1 < CALLER_CALLS; i++)
		if (first_copy(blaming, calls[i]) == number)
			return first_copy(blaming, calls[i + 1]);
	return 0;
}

static void vote(struct call *call, uint32_t caller, double gained)
{
	if (caller == call->caller) {
		call->votes += gained;
	} else if (gained <= call->votes) {
		call->votes -= gained;
	} else {
		call->caller = caller;
		call->votes = gained - call->votes;
	}
}

/* Adds a site to the sums of the call that it is assigned to. */
static void add_up(struct blaming *blaming, size_t site)
{
	uint32_t number = blaming->assigned[site];
	struct call *call = number ? &blaming->calls[number - 1] : NULL;
	double gained;

	if (!call || !call->is_listed)
		return;
	gained = gain(blaming, site, number);
	call->paths += gained > 0;
	call->assigned += gained;
	if (gained > 0)
		vote(call, caller_of(blaming, site, number), gained);
	if (call->has_most && gained <= call->most_gained)
		return;
	call->has_most = true;
	call->most = site;
	call->most_gained = gained;
}

/*
 * Adds a site's gain to `by_caller` of the call that the site is assigned to, if that call has the
 * caller `caller` on the site's stack. Updates `most_by_caller`.
 */
static void add_by_caller(struct blaming *blaming, size_t site)
{
	uint32_t number = blaming->assigned[site];
	struct call *call = number ? &blaming->calls[number - 1] : NULL;
	double gained;

	if (!call || !call->has_most || !call->caller ||
	    caller_of(blaming, site, number) != call->caller)
		return;
	gained = gain(blaming, site, number);
	call->by_caller += gained;
	if (gained <= call->most_by_caller_gained)
		return;
	call->most_by_caller = site;
	call->most_by_caller_gained = gained;
}

/* Adds a site's gain to `inside` of the calls further out than the call it is assigned to. */
static void add_inside(struct blaming *blaming, size_t site)
{
	uint32_t inner = blaming->assigned[site], outer;
	bool is_inside = false;

	if (!inner || !blaming->calls[inner - 1].is_listed)
		return;
	for (size_t depth = 0; depth < CALLER_CALLS; depth++) {
		outer = call_at(blaming, site, depth);
		if (outer && is_inside)
			blaming->calls[outer - 1].inside += gain(blaming, site, outer);
		is_inside |= outer == inner;
	}
}

/*
 * Assigns a site to the innermost blamed call on its stack, if this call's depth is at most
 * `depth`. The innermost call has depth 0.
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
 * Assigns each site of a chunk pool to the call whose function is the pool's function. This call is
 * blamed only if its sum grows.
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
		sum = first_copy(blaming, (uint32_t)sum + 1) - 1;
		if (callers_grow(blaming->callers, sum))
			assign(blaming, i, (uint32_t)sum + 1);
		else
			blaming->assigned[i] = (uint32_t)sum + 1;
	}
}

/*
 * True if an inner call on a site's stack explains the site's part in the growth of the call
 * `number`: the inner call may be blamed, does not seem to leak, and gained at least half as much.
 */
static bool is_explained(const struct blaming *blaming, size_t site, size_t depth, uint32_t number)
{
	for (size_t i = 0; i < depth; i++) {
		uint32_t inner = call_at(blaming, site, i);

		if (inner && blaming->calls[inner - 1].may_be_blamed &&
		    has_part(blaming, inner, number, LEAST_OWN))
			return true;
	}
	return false;
}

/*
 * Decides which calls at one depth are blamed, on all stacks. Assigns sites to the blamed calls.
 * Must be called for all lower depths first.
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
		blaming->has_blamed |= call->is_blamed;
	}
	for (size_t i = 0; blaming->has_blamed && i < blaming->cnt; i++)
		if (!blaming->assigned[i])
			assign_up_to(blaming, i, depth);
}

/*
 * Contribution of one site to the growth of an outer call. `function`: hash of the function that is
 * blamed for the site. `through`: hash of the outer call's function.
 */
struct portion {
	uint32_t outer, inner;
	uint64_t function, through;
	double gained;
	double alone; /* 0 if another blamed function calls `function`; otherwise, gained */
	size_t site;
	double inner_gained; /* like `gained`, but measured like the growth of the inner call */
	double direct; /* equal to inner_gained if the outer call is the caller of the inner call */
	uint64_t seen; /* blocks of the site ever seen */
};

static int by_through_and_function(const void *left, const void *right)
{
	const struct portion *a = left, *b = right;

	return ORDER(a->through, b->through) ?: ORDER(a->function, b->function);
}

/* True if a call grows and may be blamed instead of the call that the site is assigned to. */
static bool may_replace(const struct blaming *blaming, size_t site, uint32_t number)
{
	const struct call *call = number ? &blaming->calls[number - 1] : NULL;

	return call && number != blaming->assigned[site] && call->may_be_blamed && !call->is_main &&
	       grows(blaming, number);
}

/*
 * Returns the number of the next call on a site's stack, from *depth outwards, for which
 * may_replace() is true; 0 if there is none. Sets *depth to the depth after this call.
 */
static uint32_t next_outer(const struct blaming *blaming, size_t site, size_t *depth)
{
	while (*depth < CALLER_CALLS) {
		uint32_t number = call_at(blaming, site, (*depth)++);

		if (may_replace(blaming, site, number))
			return number;
	}
	return 0;
}

/*
 * Returns 1 + depth of the blamed call that a site is assigned to; 0 if the site is not assigned to
 * a blamed call.
 */
static size_t depth_behind_blamed(const struct blaming *blaming, size_t site)
{
	uint32_t number = blaming->assigned[site];
	size_t depth = 0;

	if (!number || !blaming->calls[number - 1].is_blamed)
		return 0;
	while (call_at(blaming, site, depth) != number)
		depth++;
	return depth + 1;
}

/* True if the call `outer` is of a blamed function, but not of the same function as `inner`. */
static bool is_of_other_blamed(const struct blaming *blaming, uint32_t inner, uint32_t outer)
{
	const struct call *call = &blaming->calls[outer - 1];

	return call->function != blaming->calls[inner - 1].function &&
	       hash_map_get(&blaming->blamed, call->function);
}

/* is_called: true if a blamed function between the inner and the outer call calls the inner one. */
static struct portion portion_of(const struct blaming *blaming, size_t site, uint32_t outer,
				 bool is_called)
{
	const struct site_history *history = blaming->sites[site].growth.history;
	uint32_t inner = blaming->assigned[site];
	double gained = gain(blaming, site, inner), of_outer = gain(blaming, site, outer);

	return (struct portion){
		.outer = outer,
		.inner = inner,
		.function = blaming->calls[inner - 1].function,
		.through = blaming->calls[outer - 1].function,
		.gained = of_outer,
		.alone = is_called ? 0 : of_outer,
		.site = site,
		.inner_gained = gained,
		.direct = caller_of(blaming, site, inner) == outer ? gained : 0,
		.seen = history ? history->seen : 0,
	};
}

/*
 * Lists what each site with a blamed call contributes to the growth of the calls further out on its
 * stack. If ret is NULL, only counts these contributions.
 */
static size_t portions_of(const struct blaming *blaming, struct portion *ret)
{
	size_t cnt = 0;

	for (size_t i = 0; i < blaming->cnt; i++) {
		size_t depth = depth_behind_blamed(blaming, i);
		bool is_called = false;
		uint32_t outer;

		while (depth && (outer = next_outer(blaming, i, &depth))) {
			if (ret)
				ret[cnt] = portion_of(blaming, i, outer, is_called);
			cnt++;
			is_called |= is_of_other_blamed(blaming, blaming->assigned[i], outer);
		}
	}
	return cnt;
}

/* Growth of the calls of an outer function, and the number of their blocks ever seen. */
struct whole {
	double gained;
	uint64_t seen;
};

/*
 * True if the growth of a function's calls is spread over many functions: see SPREAD_FUNCTIONS.
 * `whole`: growth of these calls. The portions must be sorted by function.
 */
static bool is_spread(const struct whole *whole, const struct portion *portions, size_t cnt)
{
	double sum = 0, of_function = 0, most = 0;
	size_t functions = 0;
	uint64_t seen = 0;

	for (size_t i = 0; i < cnt; i++) {
		bool is_new = !i || portions[i].function != portions[i - 1].function;

		functions += is_new;
		of_function = (is_new ? 0 : of_function) + portions[i].alone;
		sum += portions[i].gained;
		seen += portions[i].seen;
		if (of_function > most)
			most = of_function;
	}
	return functions >= (2 * seen > whole->seen ? FEW_FUNCTIONS : SPREAD_FUNCTIONS) &&
	       sum >= LEAST_OWN * whole->gained &&
	       most <= fmax(SPREAD_MOST, SPREAD_MEANS / (double)functions) * whole->gained;
}

/* Adds up the outer calls of the portions, which are calls of one function. */
static struct whole whole_of(struct blaming *blaming, const struct portion *portions, size_t cnt)
{
	struct whole whole = {0};

	for (size_t i = 0; i < cnt; i++) {
		size_t sum = portions[i].outer - 1;

		if (blaming->calls[sum].is_in_whole)
			continue;
		blaming->calls[sum].is_in_whole = true;
		whole.gained += blaming->calls[sum].gained;
		whole.seen += blaming->callers->growth[sum].history->seen;
	}
	return whole;
}

/*
 * Lists the functions whose growth is spread over many functions. All calls of an outer function
 * are judged together, because it may call each inner function at another place.
 */
static int list_spread(struct blaming *blaming)
{
	size_t cnt = portions_of(blaming, NULL), end;
	cleanup_free struct portion *portions = calloc(cnt + 1, sizeof(*portions));
	int err = portions ? 0 : -ENOMEM;

	if (!err) {
		portions_of(blaming, portions);
		qsort(portions, cnt, sizeof(*portions), by_through_and_function);
	}
	for (size_t i = 0; !err && i < cnt; i = end) {
		struct whole whole;

		for (end = i; end < cnt && portions[end].through == portions[i].through;)
			end++;
		whole = whole_of(blaming, &portions[i], end - i);
		if (is_spread(&whole, &portions[i], end - i))
			err = hash_map_set(&blaming->spread, portions[i].through, blaming);
	}
	return err;
}

static bool is_of_spread(const struct blaming *blaming, uint32_t number)
{
	const struct call *call = number ? &blaming->calls[number - 1] : NULL;

	return call && call->function && hash_map_get(&blaming->spread, call->function);
}

/*
 * Reassigns a site to the call of the innermost function on its stack whose growth is spread over
 * many functions, if there is one. If the site is assigned to a blamed call, considers only this
 * call and calls further out. Leaves the site unchanged if it is assigned to a call that is not
 * blamed, as sites of chunk pools may be, or if the outer function's call does not grow.
 */
static void assign_spread(struct blaming *blaming, size_t site)
{
	size_t depth = depth_behind_blamed(blaming, site);

	if (!depth && blaming->assigned[site])
		return;
	for (depth -= depth > 0; depth < CALLER_CALLS; depth++) {
		uint32_t number = call_at(blaming, site, depth);

		if (!is_of_spread(blaming, number))
			continue;
		if (may_replace(blaming, site, number))
			assign(blaming, site, number);
		return;
	}
}

static int by_inner_and_through(const void *left, const void *right)
{
	const struct portion *a = left, *b = right;

	return ORDER(a->inner, b->inner) ?: ORDER(a->through, b->through);
}

static int by_inner_through_and_site(const void *left, const void *right)
{
	const struct portion *a = left, *b = right;

	return by_inner_and_through(a, b) ?: ORDER(a->site, b->site);
}

/*
 * Adds up the portions of each pair of inner call and outer function. A function that is repeated
 * on the stack of a site counts once. Returns the number of pairs.
 */
static size_t join_portions(struct portion *portions, size_t cnt)
{
	size_t joined = 0;

	qsort(portions, cnt, sizeof(*portions), by_inner_through_and_site);
	for (size_t i = 0; i < cnt; i++) {
		struct portion *last = joined ? &portions[joined - 1] : NULL;

		if (!last || by_inner_and_through(last, &portions[i])) {
			portions[joined++] = portions[i];
		} else if (last->site != portions[i].site) {
			last->site = portions[i].site;
			last->inner_gained += portions[i].inner_gained;
			last->direct += portions[i].direct;
			last->seen += portions[i].seen;
		}
	}
	return joined;
}

/*
 * True if the outer function is to blame, not the inner call: the growth comes through the outer
 * function, and other callers also use the inner call, but keep nothing. The direct caller of the
 * inner call need not be blamed, as reports name it as the caller.
 */
static bool is_kept_by_caller(const struct blaming *blaming, const struct portion *through)
{
	/* These sums of the inner call include sites that have no blocks now. */
	double whole = blaming->calls[through->inner - 1].gained;
	double seen = (double)blaming->callers->growth[through->inner - 1].history->seen;
	double other_seen = seen - (double)through->seen;
	double other = fmax(whole - through->inner_gained, 0);

	return whole > 0 && through->inner_gained >= LEAST_THROUGH * whole &&
	       2 * through->direct < whole && other_seen >= LEAST_OTHER_BLOCKS &&
	       other_seen >= LEAST_OTHER * seen &&
	       other / whole <= MOST_OTHER_GAIN * other_seen / seen;
}

/*
 * Returns the innermost outer call on a site's stack whose function keeps the memory of the site's
 * blamed call, as listed in `keepers`; 0 if there is none.
 */
static uint32_t keeper_of(const struct blaming *blaming, size_t site, const struct portion *keepers,
			  size_t cnt)
{
	size_t depth = depth_behind_blamed(blaming, site);
	struct portion wanted = {.inner = blaming->assigned[site]};
	uint32_t outer;

	while (depth && (outer = next_outer(blaming, site, &depth))) {
		wanted.through = blaming->calls[outer - 1].function;
		if (bsearch(&wanted, keepers, cnt, sizeof(*keepers), by_inner_and_through))
			return outer;
	}
	return 0;
}

/* Moves the pairs of inner calls and keepers to the front. Returns their number. */
static size_t choose_keepers(const struct blaming *blaming, struct portion *portions, size_t cnt)
{
	size_t kept = 0;

	for (size_t i = 0; i < cnt; i++)
		if (is_kept_by_caller(blaming, &portions[i]))
			portions[kept++] = portions[i];
	return kept;
}

/*
 * Reassigns sites to their keepers. A call keeps its sites if they are only a small part of a
 * keeper's gain, because other functions are blamed for the rest. If a call loses sites, its sites
 * without a keeper are no longer assigned.
 */
static void assign_keepers(struct blaming *blaming, const uint32_t *keeper)
{
	for (size_t i = 0; i < blaming->cnt; i++)
		if (keeper[i])
			blaming->calls[keeper[i] - 1].kept += gain(blaming, i, keeper[i]);
	for (size_t i = 0; i < blaming->cnt; i++) {
		const struct call *outer = keeper[i] ? &blaming->calls[keeper[i] - 1] : NULL;
		struct call *inner = outer ? &blaming->calls[blaming->assigned[i] - 1] : NULL;

		if (!outer)
			continue;
		inner->has_keeper = true;
		inner->stays |= outer->kept < LEAST_OWN * outer->gained;
	}
	for (size_t i = 0; i < blaming->cnt; i++) {
		const struct call *call =
			blaming->assigned[i] ? &blaming->calls[blaming->assigned[i] - 1] : NULL;

		if (!call || !call->has_keeper || call->stays)
			continue;
		blaming->assigned[i] = 0;
		if (keeper[i])
			assign(blaming, i, keeper[i]);
	}
}

/*
 * Blames outer functions that keep the memory, instead of the calls that allocate it for them and
 * for others.
 */
static int blame_keepers(struct blaming *blaming)
{
	size_t cnt = portions_of(blaming, NULL);
	cleanup_free struct portion *portions = calloc(cnt + 1, sizeof(*portions));
	cleanup_free uint32_t *keeper = calloc(blaming->cnt + 1, sizeof(*keeper));

	if (!portions || !keeper)
		return -ENOMEM;
	portions_of(blaming, portions);
	cnt = join_portions(portions, cnt);
	cnt = choose_keepers(blaming, portions, cnt);
	for (size_t i = 0; cnt && i < blaming->cnt; i++)
		keeper[i] = keeper_of(blaming, i, portions, cnt);
	assign_keepers(blaming, keeper);
	return 0;
}

static enum common_callers common_callers_of(const struct call *call)
{
	if (call->most_gained >= LEAST_OWN * call->assigned)
		return CALLERS_ALL;
	return call->most_by_caller_gained > 0 && call->by_caller > LEAST_OWN * call->assigned
		       ? CALLERS_ONE
		       : CALLERS_NONE;
}

/* Returns the frame, on a site's stack, of the call with this number, or of its copy. */
static size_t frame_of(const struct blaming *blaming, const struct site *site, uint32_t number)
{
	const uint32_t *calls = callers_calls(blaming->callers, site);
	size_t frame = 0;

	while (first_copy(blaming, *calls) != number)
		calls++;
	while (site->frames[frame] != blaming->callers->items[*calls - 1].frame)
		frame++;
	return frame;
}

static struct candidate candidate_of(const struct blaming *blaming, size_t sum)
{
	const struct call *call = &blaming->calls[sum];
	enum common_callers common_callers = common_callers_of(call);
	struct candidate ret =
		blaming->sites[common_callers == CALLERS_ONE ? call->most_by_caller : call->most];

	ret.blamed_from = frame_of(blaming, ret.site, (uint32_t)sum + 1);
	ret.growth.history = blaming->callers->growth[sum].history;
	ret.path_cnt = call->paths;
	ret.common_callers = common_callers;
	if (call->gained > 0)
		ret.blamed_inside = fmin(fmax(call->inside / call->gained, 0), 1);
	return ret;
}

/* Replaces the sites of each blamed call by one candidate. */
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

static int list_blamed(struct blaming *blaming)
{
	int err = 0;

	for (size_t i = 0; !err && i < blaming->callers->cnt; i++)
		if (blaming->calls[i].is_blamed)
			err = hash_map_set(&blaming->blamed, blaming->calls[i].function, blaming);
	return err;
}

/* Blames calls whose sums grow, and assigns sites to them. */
static int blame_growing(struct blaming *blaming)
{
	int err;

	for (size_t depth = 0; depth < CALLER_CALLS; depth++)
		blame_at(blaming, depth);
	err = list_blamed(blaming) ?: blame_keepers(blaming) ?: list_spread(blaming);
	for (size_t i = 0; !err && i < blaming->cnt; i++) {
		assign_spread(blaming, i);
		add_up(blaming, i);
	}
	for (size_t i = 0; !err && i < blaming->cnt; i++) {
		add_by_caller(blaming, i);
		add_inside(blaming, i);
	}
	return err;
}

int blame_sums(const struct options *opts, const struct callers *callers,
	       const struct funnels *funnels, const struct chunk_pools *pools,
	       struct symbol_backend *symbols, uint64_t deadline_ns, struct candidate *sites,
	       size_t *cnt, struct joined_histories *joined)
{
	cleanup_free struct growth *growth = calloc(callers->cnt + 1, sizeof(*growth));
	struct callers own = *callers; /* with a growth that may differ for copies of calls */
	struct blaming blaming = {
		.callers = &own,
		.calls = calloc(callers->cnt + 1, sizeof(*blaming.calls)),
		.first_copy = calloc(callers->cnt + 1, sizeof(*blaming.first_copy)),
		.sites = sites,
		.cnt = *cnt,
		.first = calloc(*cnt + 1, sizeof(*blaming.first)),
		.assigned = calloc(*cnt + 1, sizeof(*blaming.assigned)),
	};
	int err = growth && blaming.calls && blaming.first_copy && blaming.first && blaming.assigned
			  ? 0
			  : -ENOMEM;

	if (!err) {
		memcpy(growth, callers->growth, callers->cnt * sizeof(*growth));
		own.growth = growth;
		prepare(&blaming, funnels);
	}
	if (!err && symbols && blaming.has_growing)
		err = name_calls(opts, &blaming, symbols, deadline_ns)
			      ?: join_copies(&blaming, &own, joined);
	if (!err) {
		assign_chunk_pools(&blaming, pools);
		err = blaming.has_growing ? blame_growing(&blaming) : 0;
	}
	if (!err)
		err = replace_sites(&blaming, cnt);
	blaming_deinit(&blaming);
	return err;
}
