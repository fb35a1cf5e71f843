// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up a snapshot, sorts its sites, and names the frames of the sites that are shown. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "report/blame_sums.h"
#include "report/callers.h"
#include "report/chunk_pools.h"
#include "report/funnels.h"
#include "report/grouping.h"
#include "report/held_by.h"
#include "report/joined_paths.h"
#include "report/keepers.h"
#include "report/kernel_paths.h"
#include "report/largest.h"
#include "report/naming.h"
#include "report/peak.h"
#include "report/pools.h"
#include "report/runtime_init.h"
#include "report/shared_frames.h"
#include "report/site_order.h"
#include "report/summary_order.h"

/*
 * Maximum number of sites shown for each group: enough to see where the group's memory came from.
 */
#define GROUP_SITES 3

/*
 * Maximum number of suspects in a report, and maximum number of losses. Reports of --why as text
 * have all suspects.
 */
#define MAX_SUSPECTS 5
/* Maximum number of pinners (functions whose blocks pin free memory) in a report */
#define MAX_PINNERS 3

/*
 * Minimum size of a pending site or sum, as a fraction of all outstanding memory. Pending sites and
 * sums have no verdict yet, and prevent the message "nothing seems to leak".
 */
#define LEAST_PART 0.01

static void add_totals(const struct candidate *candidates, struct report *report)
{
	for (size_t i = 0; i < report->sites_total; i++) {
		const struct site *site = candidates[i].site;

		report->bytes += site->bytes;
		report->count += site->count;
		report->definite_count += site->reach.of[REACH_DEFINITE].count;
		report->inherited_bytes += site->inherited_bytes;
		report->inherited_count += site->inherited_count;
		report->bytes_variance += site->bytes_variance;
		report->count_variance += site->count_variance;
		if (site->end == STACK_END_COMPLETE)
			report->complete_bytes += site->bytes;
	}
}

/*
 * The sites of each part of a report. The report's array of sites has the parts in the same order.
 */
struct shown {
	struct candidate *candidates; /* the outstanding sites */
	size_t cnt;
	struct largest_sites largest;
	struct candidate *peak;
	size_t peak_cnt;
	struct candidate *paths; /* sites that seem to leak */
	size_t path_cnt;
	struct candidate *lost_paths; /* sites with lost blocks */
	size_t lost_path_cnt;
	struct candidate *pin_paths; /* sites that pin free memory */
	size_t pin_path_cnt;
	/* Sites whose blocks store the items of Python containers that keep growing. */
	struct candidate keepers[PYTHON_CONTAINERS_MAX];
	size_t keeper_cnt;
	/* Sites whose blocks point to blocks of shown sites. */
	const struct site **holders;
	size_t holder_cnt;
	struct funnels funnels;
	struct chunk_pools chunk_pools;
};

/* If a site belongs to a chunk pool, sets its `chunks` and `blamed_from`. */
static void set_chunks(const struct chunk_pools *pools, struct report_site *shown)
{
	const struct chunk_pool *pool = chunk_pools_find(pools, shown->site);

	if (!pool)
		return;
	shown->chunks = pool->chunks;
	shown->blamed_from = pool->frame_cnt - 1;
}

static void show(const struct shown *shown, struct report_site *sites,
		 const struct candidate *candidates, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		sites[i] = (struct report_site){
			.site = candidates[i].site,
			.growth_bytes = candidates[i].growth.bytes,
			.growth_count = candidates[i].growth.count,
			.history = candidates[i].growth.history,
			.wrapped_frame = funnels_frame_cnt(&shown->funnels, candidates[i].site),
			.blamed_from = candidates[i].blamed_from,
			.path_cnt = candidates[i].path_cnt,
			.common_callers = candidates[i].common_callers,
			.blamed_inside = candidates[i].blamed_inside,
			.chunks = candidates[i].chunks,
			.has_instances = candidates[i].has_instances,
		};
		set_chunks(&shown->chunk_pools, &sites[i]);
	}
}

/* Allocates an array of locations for the frames of each site. The locations are NULL at first. */
static int alloc_locations(struct report *report, size_t cnt)
{
	const struct sym_location **next;
	size_t frame_cnt = 0;

	for (size_t i = 0; i < cnt; i++)
		frame_cnt += report->sites[i].site->frame_cnt;
	next = report->location_store = calloc(frame_cnt + 1, sizeof(*report->location_store));
	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		report->sites[i].locations = next;
		next += report->sites[i].site->frame_cnt;
	}
	return 0;
}

static bool is_in_pool(const struct pools *pools, const struct report *report,
		       const struct site *site)
{
	return pools && pools->is_in_pool[site - report->snapshot->sites];
}

static int show_sites(const struct shown *shown, const struct pools *pools, struct report *report)
{
	size_t cnt = shown->cnt + shown->largest.cnt + shown->peak_cnt + shown->path_cnt +
		     shown->lost_path_cnt + shown->pin_path_cnt + shown->keeper_cnt +
		     shown->holder_cnt;
	struct report_site *next;

	next = report->sites = calloc(cnt + 1, sizeof(*report->sites));
	if (!next)
		return -ENOMEM;
	show(shown, next, shown->candidates, shown->cnt);
	report->site_cnt = shown->cnt;
	for (size_t i = 0; i < shown->cnt; i++)
		next[i].in_pool = is_in_pool(pools, report, next[i].site);
	report->largest = next += shown->cnt;
	for (size_t i = 0; i < shown->largest.cnt; i++)
		next[i].site = shown->largest.sites[i];
	report->largest_cnt = shown->largest.cnt;
	report->largest_total = shown->largest.total;
	report->peak = next += shown->largest.cnt;
	show(shown, next, shown->peak, shown->peak_cnt);
	report->peak_cnt = shown->peak_cnt;
	report->paths = next += shown->peak_cnt;
	show(shown, next, shown->paths, shown->path_cnt);
	report->path_cnt = shown->path_cnt;
	for (size_t i = 0; pools && i < shown->path_cnt; i++) {
		next[i].objects = pools_objects(pools, next[i].site);
		next[i].in_pool = next[i].objects;
	}
	report->lost_paths = next += shown->path_cnt;
	show(shown, next, shown->lost_paths, shown->lost_path_cnt);
	report->lost_path_cnt = shown->lost_path_cnt;
	report->pin_paths = next += shown->lost_path_cnt;
	show(shown, next, shown->pin_paths, shown->pin_path_cnt);
	report->pin_path_cnt = shown->pin_path_cnt;
	report->keepers = next += shown->pin_path_cnt;
	show(shown, next, shown->keepers, shown->keeper_cnt);
	report->keeper_cnt = shown->keeper_cnt;
	report->holders = next += shown->keeper_cnt;
	for (size_t i = 0; i < shown->holder_cnt; i++)
		next[i].site = shown->holders[i];
	report->holder_cnt = shown->holder_cnt;
	return alloc_locations(report, cnt);
}

/* Finds the blocks of each shown site in the snapshot's blocks, which are sorted by site. */
static void find_blocks(struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	for (size_t i = 0; snap->block_cnt && i < report->site_cnt; i++) {
		struct report_site *shown = &report->sites[i];
		size_t site = (size_t)(shown->site - snap->sites);
		size_t first = bisect_below(snap->blocks, snap->block_cnt, site, site);

		shown->blocks = snap->blocks + first;
		shown->block_cnt = bisect_upto(snap->blocks, snap->block_cnt, site, site) - first;
	}
}

/*
 * Returns the length of the report's array of sites, which includes the sites of all parts of the
 * report.
 */
static size_t named_cnt(const struct report *report)
{
	return report->site_cnt + report->largest_cnt + report->peak_cnt + report->path_cnt +
	       report->lost_path_cnt + report->pin_path_cnt + report->keeper_cnt +
	       report->holder_cnt;
}

/* Names all sites. The first `prepared` of them are prepared for it already. */
static int name_sites(const struct options *opts, struct symbol_backend *symbols, size_t prepared,
		      uint64_t deadline_ns, struct report *report)
{
	size_t cnt = named_cnt(report);
	cleanup_free const struct site **sites = calloc(cnt + 1, sizeof(*sites));
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sites[i] = report->sites[i].site;
	err = cnt > prepared
		      ? symbols->prepare(symbols, sites + prepared, cnt - prepared, deadline_ns)
		      : 0;
	for (size_t i = 0; !err && i < cnt; i++)
		report_site_name(opts, symbols, i ? &report->sites[i - 1] : NULL,
				 &report->sites[i]);
	for (size_t i = 0; !err && i < cnt; i++)
		err = held_by_name(&report->sites[i], report->holders, report->holder_cnt, symbols,
				   deadline_ns);
	return err;
}

/*
 * Finds the script variable that holds the runtime objects of the site `objects`. Searches all
 * named sites with the same process and kind of objects, because `objects` itself may be the sum of
 * a pool, for which no holders are known. Returns the text for the variable that holds the largest
 * of these sites; NULL if script variables hold none of them.
 */
static const char *script_holder_of(const struct report *report, const struct report_site *objects)
{
	const struct report_site *largest = NULL;

	for (size_t i = 0; i < named_cnt(report); i++) {
		const struct report_site *shown = &report->sites[i];

		if (shown->objects == objects->objects &&
		    shown->site->process == objects->site->process && shown->held_by_cnt &&
		    shown->site->reach.held_by[0].kind == HOLDER_SCRIPT &&
		    (!largest || shown->site->bytes > largest->site->bytes))
			largest = shown;
	}
	return largest ? largest->held_by[0] : NULL;
}

static void judge_objects(const struct pools *pools, struct report *report)
{
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		struct suspect *suspect = &report->suspects[i];

		if (!suspect->site->objects)
			continue;
		suspect->in_pools = pools && pools_have(pools, suspect->site->site->process,
							suspect->site->objects);
		suspect->holder = script_holder_of(report, suspect->site);
	}
}

static int show_groups(const struct candidate *candidates, const struct grouping *grouping,
		       size_t cnt, struct report *report)
{
	report->groups = calloc(cnt + 1, sizeof(*report->groups));
	if (!report->groups)
		return -ENOMEM;
	report->by = grouping->by;
	report->group_cnt = cnt;
	for (size_t i = 0; i < cnt; i++)
		report->groups[i] = (struct report_group){
			.sum = candidates[i].site,
			.name = grouping->names[candidates[i].site - grouping->sums],
			.growth_bytes = candidates[i].growth.bytes,
			.growth_count = candidates[i].growth.count,
			.history = candidates[i].growth.history,
		};
	return 0;
}

/* Keeps only the first GROUP_SITES candidates of each shown group, in the order of the groups. */
static int choose_sites(const struct grouping *grouping, struct report *report,
			struct candidate *candidates, size_t *ret)
{
	cleanup_free struct report_group **shown = calloc(grouping->cnt + 1, sizeof(*shown));
	cleanup_free struct candidate *chosen =
		calloc(report->group_cnt * GROUP_SITES + 1, sizeof(*chosen));
	size_t cnt = 0;

	if (!shown || !chosen)
		return -ENOMEM;
	for (size_t i = 0; i < report->group_cnt; i++)
		shown[report->groups[i].sum - grouping->sums] = &report->groups[i];
	for (size_t i = 0; i < report->sites_total; i++) {
		size_t site = (size_t)(candidates[i].site - report->snapshot->sites);
		struct report_group *group = shown[grouping->group_of[site]];

		if (!group)
			continue;
		group->sites_total++;
		if (group->site_cnt < GROUP_SITES)
			chosen[(size_t)(group - report->groups) * GROUP_SITES + group->site_cnt++] =
				candidates[i];
	}
	for (size_t i = 0; i < report->group_cnt * GROUP_SITES; i++)
		if (chosen[i].site)
			candidates[cnt++] = chosen[i];
	*ret = cnt;
	return 0;
}

/* Finds functions that allocate on behalf of their callers (funnels), and chunk pools. */
static int compare_callers(const struct sums *sums, struct symbol_backend *symbols,
			   uint64_t deadline_ns, size_t cnt, struct shown *shown)
{
	cleanup_free const struct candidate **sorted = NULL;
	int err = shared_frames_sort(shown->candidates, cnt, &cnt, &sorted);

	if (!err)
		err = funnels_init(sorted, cnt, sums->callers, &shown->funnels);
	if (!err)
		err = chunk_pools_init(sorted, cnt, sums->callers, symbols, deadline_ns,
				       &shown->chunk_pools);
	return err;
}

static void set_group_sites(struct report *report)
{
	const struct report_site *next = report->sites;

	for (size_t i = 0; i < report->group_cnt; i++) {
		report->groups[i].sites = next;
		next += report->groups[i].site_cnt;
	}
}

/* Returns the maximum number of rows of a list that is not a list of stacks. */
static size_t records_of(const struct options *opts)
{
	return opts->max_records ? opts->max_records : opts->top;
}

static int show_summaries(const struct options *opts, struct report *report)
{
	size_t cnt = report->snapshot->summary_cnt;

	report->summary_cnt =
		opts->max_records && opts->max_records < cnt ? opts->max_records : cnt;
	return summary_order_init(report->snapshot, opts->summary_sort, &report->summaries);
}

/*
 * Sorts the groups. Moves the sites to be shown to the front of `candidates`, and sets *cnt to
 * their number.
 */
static int rank_groups(const struct options *opts, const struct grouping *grouping,
		       const struct growth *growth, struct report *report,
		       struct candidate *candidates, size_t *cnt)
{
	cleanup_free struct candidate *groups = NULL;
	int err = site_order_init(grouping->sums, growth, grouping->cnt, opts->sort,
				  &report->groups_total, &groups);
	size_t most = records_of(opts);

	if (!err)
		err = show_groups(groups, grouping,
				  report->groups_total < most ? report->groups_total : most,
				  report);
	return err ? err : choose_sites(grouping, report, candidates, cnt);
}

/*
 * Selects the sites to be shown for a peak. They have no growth, because a peak is a single moment.
 */
static int show_peak(const struct options *opts, const struct peak *peak, struct shown *shown)
{
	cleanup_free struct growth *growth = NULL;
	size_t cnt;
	int err;

	if (!opts->peak || !peak)
		return 0;
	growth = calloc(peak->site_cnt + 1, sizeof(*growth));
	if (!growth)
		return -ENOMEM;
	err = site_order_init(peak->sites, growth, peak->site_cnt, opts->sort, &cnt, &shown->peak);
	if (!err)
		shown->peak_cnt = cnt < opts->top ? cnt : opts->top;
	return err;
}

/* True if sort_out_runtime_init() prepares the shown sites for being named. */
static bool prepares_sites(const struct options *opts, bool grouped)
{
	return !opts->no_default_suppressions && !grouped;
}

/*
 * Moves sites of runtime initialisation behind the first opts->top other sites. If sites are
 * grouped, only checks whether all sites are runtime initialisation, for --error-exitcode. Does
 * nothing with --no-default-suppressions.
 */
static int sort_out_runtime_init(const struct options *opts, struct symbol_backend *symbols,
				 uint64_t deadline_ns, bool grouped, struct report *report,
				 struct shown *shown)
{
	int err;

	report->runtime_init_from = shown->cnt;
	if (opts->no_default_suppressions || !symbols || (grouped && !opts->error_exitcode))
		return 0;
	if (grouped)
		return runtime_init_is_all(symbols, deadline_ns, shown->candidates,
					   report->sites_total, &report->only_runtime_init);
	err = runtime_init_put_last(symbols, deadline_ns, shown->candidates, report->sites_total,
				    opts->top, &report->runtime_init_from, &report->runtime_init);
	report->only_runtime_init = report->runtime_init.sites && !report->runtime_init_from;
	return err;
}

/*
 * Returns the growth of all growing kernel sites together, in bytes per second, regardless of their
 * verdicts.
 */
static double kernel_growth(const struct shown *shown, size_t cnt)
{
	double ret = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct site_history *history = shown->candidates[i].growth.history;

		if (history && shown->candidates[i].site->space == SPACE_KERNEL &&
		    history->trend.bytes_per_s > 0)
			ret += history->trend.bytes_per_s;
	}
	return ret;
}

/*
 * True if a site belongs to a chunk pool that seems to leak. Then the pool is reported instead of
 * the site.
 */
static bool is_reported_by_pool(const struct sums *sums, const struct shown *shown,
				const struct site *site)
{
	const struct chunk_pool *pool = chunk_pools_find(&shown->chunk_pools, site);
	size_t sum = pool ? callers_find(sums->callers, site, pool->frame_cnt - 1) : SIZE_MAX;

	return sum != SIZE_MAX && callers_grow(sums->callers, sum);
}

static bool has_ended(const struct snapshot *snap, const struct process *process)
{
	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (snap->tallies[i].process == process)
			return snap->tallies[i].ended || snap->tallies[i].ended_here;
	return false;
}

/*
 * True if a site is pending: it may go on growing, its memory without inherited blocks is at least
 * LEAST_PART of all memory, and its process has not ended. Sites that are judged as part of a pool
 * are not pending.
 */
static bool is_pending(const struct sums *sums, const struct shown *shown,
		       const struct report *report, const struct candidate *candidate)
{
	const struct site *site = candidate->site;

	return candidate->growth.history->trend.pending &&
	       (double)(site->bytes - site->inherited_bytes) >=
		       LEAST_PART * (double)report->bytes &&
	       !has_ended(report->snapshot, site->process) &&
	       !is_in_pool(sums->pools, report, site) && !is_reported_by_pool(sums, shown, site);
}

/*
 * Returns the bytes of the largest pending sum over all sites with the same call; 0 if no sum is
 * pending. A pending sum may go on growing and has at least LEAST_PART of all memory, although each
 * of its sites may have less.
 */
static uint64_t largest_pending_sum(const struct callers *callers, const struct report *report)
{
	uint64_t ret = 0;

	for (size_t i = 0; callers && i < callers->cnt; i++) {
		const struct site_history *history = callers->growth[i].history;
		const struct site *site = callers->items[i].site;
		uint64_t bytes;

		if (!history || !history->trend.pending || site->inherited_bytes ||
		    has_ended(report->snapshot, site->process))
			continue;
		bytes = history->points[history->point_cnt - 1]->bytes;
		if ((double)bytes >= LEAST_PART * (double)report->bytes && bytes > ret)
			ret = bytes;
	}
	return ret;
}

static void count_verdicts(const struct sums *sums, const struct shown *shown,
			   struct report *report)
{
	for (size_t i = 0; i < report->sites_total; i++) {
		const struct site_history *history = shown->candidates[i].growth.history;

		if (!history)
			continue;
		report->judged += history->trend.tendency != TENDENCY_UNKNOWN ||
				  (history->trend.pending &&
				   history->trend.reasons.objection != OBJECTION_EARLY);
		report->undecided += history->trend.undecided;
		if (!is_pending(sums, shown, report, &shown->candidates[i]))
			continue;
		report->pending++;
		report->pending_freed += history->trend.reasons.objection == OBJECTION_FREED;
		report->pending_bytes += shown->candidates[i].site->bytes;
	}
	if (!report->pending) {
		uint64_t bytes = largest_pending_sum(sums->callers, report);

		report->pending = bytes > 0;
		/*
		 * Report no bytes if there are suspects: they may include the bytes of the pending
		 * sum.
		 */
		report->pending_bytes = shown->path_cnt ? 0 : bytes;
	}
}

/* Lists all sites that are in no pool of a runtime, followed by the pools. Sets report->unclear. */
static size_t choose_judged(const struct pools *pools, const struct shown *shown,
			    struct report *report, struct candidate *judged)
{
	size_t pool_cnt = pools ? pools->cnt : 0, cnt = 0;

	for (size_t i = 0; i < report->sites_total; i++) {
		if (!is_in_pool(pools, report, shown->candidates[i].site))
			judged[cnt++] = shown->candidates[i];
	}
	for (size_t i = 0; i < pool_cnt; i++) {
		judged[cnt++] = (struct candidate){.site = &pools->pools[i].sum,
						   .growth = pools->growth[i]};
		if (pools->pools[i].in_steps &&
		    pool_is_unclear(&pools->pools[i], pools->growth[i].history))
			report->unclear = &pools->pools[i];
	}
	return cnt;
}

/* Appends a path to the paths that are named, unless its address space has too many of them. */
static void append_path(const struct candidate *path, size_t cnt[SPACE_CNT], struct shown *shown)
{
	enum address_space space = path->site->space;

	if (cnt[space] >= (space == SPACE_KERNEL ? REPORT_KERNEL_PATHS_MAX : REPORT_PATHS_MAX))
		return;
	cnt[space]++;
	shown->paths[shown->path_cnt++] = *path;
}

/*
 * Chooses the paths (growing stacks) that may be suspects, and appends paths that may be companions
 * of these. Counts the growing sites whose memory the kernel can reclaim.
 */
static int choose_paths(const struct candidate *judged, size_t cnt, struct report *report,
			struct shown *shown)
{
	cleanup_free struct candidate *suspects = NULL, *companions = NULL;
	size_t cnts[SPACE_CNT] = {0}, suspect_cnt, companion_cnt = 0;
	int err = site_order_suspects(judged, cnt, &suspect_cnt, &suspects);

	if (!err)
		err = site_order_companions(judged, cnt, &companion_cnt, &companions);
	if (err)
		return err;
	shown->paths = calloc(REPORT_PATHS_MAX + REPORT_KERNEL_PATHS_MAX, sizeof(*shown->paths));
	if (!shown->paths)
		return -ENOMEM;
	for (size_t i = 0; i < suspect_cnt; i++) {
		report->suspects_total += suspects[i].path_cnt ?: 1;
		report->suspects_per_s += candidate_bytes_per_s(&suspects[i]);
		append_path(&suspects[i], cnts, shown);
	}
	for (size_t i = 0; i < companion_cnt; i++) {
		if (companions[i].site->origin.reclaimable)
			report->excluded_total += companions[i].path_cnt ?: 1;
		if (suspect_cnt)
			append_path(&companions[i], cnts, shown);
	}
	return 0;
}

/*
 * Judges all sites, including those that the report does not show. Chooses the paths that may be
 * suspects.
 */
static int show_paths(const struct options *opts, const struct sums *sums,
		      struct symbol_backend *symbols, uint64_t deadline_ns, struct report *report,
		      struct shown *shown)
{
	size_t pool_cnt = sums->pools ? sums->pools->cnt : 0, cnt;
	cleanup_free struct candidate *judged =
		calloc(report->sites_total + pool_cnt + 1, sizeof(*judged));
	int err = 0;

	if (!judged)
		return -ENOMEM;
	cnt = choose_judged(sums->pools, shown, report, judged);
	if (sums->callers)
		err = blame_sums(opts, sums->callers, &shown->funnels, &shown->chunk_pools, symbols,
				 deadline_ns, judged, &cnt, &report->joined_calls);
	if (!err && sums->callers && symbols)
		err = joined_paths_init(opts, sums->callers, &shown->funnels, &shown->chunk_pools,
					symbols, deadline_ns, judged, &cnt, &report->joined);
	if (!err)
		err = choose_paths(judged, cnt, report, shown);
	if (err)
		return err;
	report->kernel_per_s = kernel_growth(shown, report->sites_total);
	count_verdicts(sums, shown, report);
	return 0;
}

static int show_lost_paths(struct report *report, struct shown *shown)
{
	int err = site_order_losses(shown->candidates, report->sites_total, &report->losses_total,
				    &shown->lost_paths);

	if (!err)
		shown->lost_path_cnt = report->losses_total < REPORT_PATHS_MAX
					       ? report->losses_total
					       : REPORT_PATHS_MAX;
	return err;
}

static int show_pinners(struct report *report, struct shown *shown)
{
	size_t cnt = 0;
	int err;

	for (size_t i = 0; report->by_pin && i < report->sites_total; i++)
		report->has_pinned |= shown->candidates[i].site->pinned_bytes > 0;
	if (!report->rss || !rss_pins_matter(report->rss))
		return 0;
	err = site_order_pinners(shown->candidates, report->sites_total, &cnt, &shown->pin_paths);
	shown->pin_path_cnt = cnt < RSS_PINNERS_MAX ? cnt : RSS_PINNERS_MAX;
	return err;
}

static void show_keepers(struct report *report, struct shown *shown)
{
	const struct python_growth *python = report->snapshot->python;

	for (size_t i = 0; python && i < python->container_cnt; i++)
		for (size_t j = 0; python->containers[i].site && j < report->sites_total; j++) {
			if (shown->candidates[j].site->id != python->containers[i].site)
				continue;
			shown->keepers[shown->keeper_cnt++] = shown->candidates[j];
			break;
		}
}

/* Finds, after a proof, the sites whose blocks point to blocks of shown sites. */
static int show_holders(struct shown *shown)
{
	const struct candidate *const lists[] = {shown->candidates, shown->paths};
	const size_t cnts[] = {shown->cnt, shown->path_cnt};

	return held_by_sites(lists, cnts, 2, &shown->holders, &shown->holder_cnt);
}

static void shown_deinit(struct shown *shown)
{
	free(shown->candidates);
	free(shown->peak);
	free(shown->paths);
	free(shown->lost_paths);
	free(shown->pin_paths);
	free(shown->holders);
	largest_sites_deinit(&shown->largest);
	funnels_deinit(&shown->funnels);
	chunk_pools_deinit(&shown->chunk_pools);
}

/* Returns the time at which the first of a process's growing sites and pools was seen. */
static uint64_t first_seen_ns(const struct pools *pools, const struct report *report,
			      const struct process *process)
{
	uint64_t first_ns = report->snapshot->elapsed_ns;

	if (pools)
		first_ns = pools_first_ns(pools, process, first_ns);
	for (size_t i = 0; i < report->path_cnt; i++) {
		const struct report_site *path = &report->paths[i];

		if (path->site->process == process && path->history->point_cnt &&
		    path->history->points[0]->elapsed_ns < first_ns)
			first_ns = path->history->points[0]->elapsed_ns;
	}
	return first_ns;
}

/* True if a path's memory consists of runtime objects that may stop growing soon. */
static bool is_settling(const struct pools *pools, const struct report *report,
			const struct report_site *path)
{
	const struct run_facts *run = &report->snapshot->run;

	if (!path->objects)
		return false;
	if (objects_grow_briefly(path->history) ||
	    objects_slight_gain(path->history, report->bytes) > 0)
		return true;
	return path->site->space != SPACE_KERNEL && (!run->had_begun || run->was_young) &&
	       process_may_be_starting(path->history,
				       first_seen_ns(pools, report, path->site->process),
				       run->was_young);
}

/* Subtracts a path from suspects_total and suspects_per_s. Companions were never added to them. */
static void uncount(const struct report_site *path, struct report *report)
{
	if (site_is_doubtful(path->site))
		return;
	report->suspects_total -= path->path_cnt ?: 1;
	report->suspects_per_s -= path_bytes_per_s(path);
}

/* Marks the paths whose memory consists of runtime objects that may stop growing soon. */
static void find_settling(const struct pools *pools, struct report *report)
{
	struct report_site *paths = report->sites + (report->paths - report->sites);

	for (size_t i = 0; i < report->path_cnt; i++) {
		if (!is_settling(pools, report, &paths[i]))
			continue;
		paths[i].settling = true;
		report->settling = report->settling ?: &paths[i];
		uncount(&paths[i], report);
	}
}

/*
 * Finds the functions to blame for kernel paths. Paths that kernel_paths_blame() excludes are
 * subtracted from the totals of the suspects.
 */
static int blame_kernel(struct report *report)
{
	struct report_site *paths = report->sites + (report->paths - report->sites);
	int err = kernel_paths_blame(paths, report->path_cnt);

	for (size_t i = 0; !err && i < report->path_cnt; i++) {
		const struct site *site = paths[i].site;

		if (!paths[i].is_excluded)
			continue;
		/*
		 * Do not count doubtful sites: if the kernel can reclaim their memory,
		 * choose_paths() has counted them; otherwise, frees of their blocks may have been
		 * missed.
		 */
		if (!site_is_doubtful(site))
			report->excluded_total += paths[i].path_cnt ?: 1;
		uncount(&paths[i], report);
	}
	return err;
}

static void share_rest(const struct options *opts, struct report *report)
{
	size_t rest = report->suspects_total, lines = 0;

	for (; lines < report->suspect_cnt && !report->suspects[lines].is_slight; lines++)
		rest -= report->suspects[lines].path_cnt;
	if (report->suspect_cnt && rest > 1)
		report->shared = shared_caller_of(opts, report->paths, report->path_cnt,
						  report->suspects, lines, rest);
}

/* Finds the suspects, and the functions that have lost blocks or pin memory. */
static int name_culprits(const struct options *opts, struct report *report)
{
	const struct trifle_scale scale = {
		.held_bytes = report->bytes,
		.untraced_per_s = untraced_bytes_per_s(&report->untraced),
		.explained_per_s = report->untraced.explained.per_s,
		.kernel_per_s = report->kernel_per_s,
		.wants_all = report->show_why && report->can_list_all,
	};
	size_t most = scale.wants_all ? REPORT_PATHS_MAX : MAX_SUSPECTS;
	int err = suspects_init(report->paths, report->path_cnt, &scale, most, &report->suspect_cnt,
				&report->suspects);

	if (!err)
		err = losses_init(report->lost_paths, report->lost_path_cnt, MAX_SUSPECTS,
				  &report->loss_cnt, &report->losses);
	return err ? err
		   : pinners_init(report->pin_paths, report->pin_path_cnt, MAX_PINNERS,
				  &report->pinner_cnt, &report->pinners);
}

/*
 * Returns a report without sites. Sets the fields that depend only on the options, on the resident
 * memory and on untraced growth. `sums` may be NULL.
 */
static struct report report_of(const struct options *opts, const struct snapshot *snap,
			       const struct sums *sums, bool final)
{
	const struct rss_pasts *pasts = sums ? sums->rss_pasts : NULL;
	const struct process_tally *only = snapshot_only_rss(snap);

	return (struct report){
		.snapshot = snap,
		.show_allocs = opts->show_allocs,
		.show_largest = opts->largest,
		.show_peak = opts->peak,
		.by_pin = opts->sort == SORT_PINNED,
		.has_older = opts->older_given && opts->older_ns,
		.any_age = !opts->older_ns,
		.has_min_size = opts->min_size != 0,
		.has_max_size = opts->max_size && opts->max_size != UINT64_MAX,
		.show_stats = opts->stats,
		.show_summary = opts->summary,
		.show_why = opts->why,
		.can_list_all = opts->format == FORMAT_TEXT && !opts->live,
		.all_frames = opts->all_frames,
		.refused = opts->refused,
		.propose = opts->gen_suppressions,
		.final = final,
		.rss = only ? &only->rss : NULL,
		.first_rss = only ? processes_rss_first(pasts, only->process)
				  : processes_rss_only_first(snap, pasts),
		.latest_rss = processes_rss_latest(snap, pasts),
		.processes_rss = processes_rss_of(snap, pasts),
		.untraced = sums && sums->untraced ? *sums->untraced : (struct untraced_growths){0},
	};
}

int report_init_groups(const struct options *opts, const struct snapshot *snap,
		       const struct growth *growth, const struct grouping *grouping,
		       const struct growth *group_growth, const struct sums *sums,
		       struct symbol_backend *symbols, uint64_t deadline_ns, bool final,
		       struct report *ret)
{
	static const struct sums no_sums;
	struct report report = report_of(opts, snap, sums, final);
	struct shown shown = {0};
	int err = site_order_init(snap->sites, growth, snap->site_cnt, opts->sort,
				  &report.sites_total, &shown.candidates);

	if (err)
		return err;
	sums = sums ?: &no_sums;
	add_totals(shown.candidates, &report);
	shown.cnt = report.sites_total < opts->top ? report.sites_total : opts->top;
	err = compare_callers(sums, symbols, deadline_ns, report.sites_total, &shown);
	if (!err)
		err = show_paths(opts, sums, symbols, deadline_ns, &report, &shown);
	if (!err)
		err = show_lost_paths(&report, &shown);
	if (!err)
		err = show_pinners(&report, &shown);
	show_keepers(&report, &shown);
	if (!err)
		err = sort_out_runtime_init(opts, symbols, deadline_ns, grouping, &report, &shown);
	if (!err && grouping)
		err = rank_groups(opts, grouping, group_growth, &report, shown.candidates,
				  &shown.cnt);
	if (!err && opts->largest)
		err = largest_sites_init(snap, records_of(opts), &shown.largest);
	if (!err)
		err = show_peak(opts, snap->peak, &shown);
	if (!err)
		err = show_holders(&shown);
	if (!err)
		err = show_sites(&shown, sums->pools, &report);
	shown_deinit(&shown);
	if (!err && opts->summary)
		err = show_summaries(opts, &report);
	if (!err && symbols && named_cnt(&report))
		err = name_sites(opts, symbols,
				 prepares_sites(opts, grouping) ? report.site_cnt : 0, deadline_ns,
				 &report);
	if (!err)
		err = blame_kernel(&report);
	find_settling(sums->pools, &report);
	if (!err)
		err = name_culprits(opts, &report);
	if (err) {
		report_deinit(&report);
		return err;
	}
	keepers_prefer(snap->python, report.keepers, report.keeper_cnt, report.suspects,
		       report.suspect_cnt);
	share_rest(opts, &report);
	judge_objects(sums->pools, &report);
	set_group_sites(&report);
	for (size_t i = report.runtime_init_from; !grouping && i < report.site_cnt; i++)
		report.sites[i].runtime_init = true;
	if (opts->show_allocs)
		find_blocks(&report);
	*ret = report;
	return 0;
}

bool report_marks_suspect(const struct report *report, const struct report_site *shown)
{
	if (!shown->history || !site_is_suspect(shown->site, shown->history))
		return false;
	for (size_t i = 0; i < report->path_cnt; i++)
		if (report->paths[i].site == shown->site)
			return !report->paths[i].is_excluded && !report->paths[i].settling;
	return true;
}

int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, uint64_t deadline_ns,
		bool final, struct report *ret)
{
	return report_init_groups(opts, snap, growth, NULL, NULL, NULL, symbols, deadline_ns, final,
				  ret);
}

void report_deinit(struct report *report)
{
	for (size_t i = 0; i < report->group_cnt; i++)
		free(report->groups[i].thread);
	free(report->groups);
	free(report->summaries);
	free(report->suspects);
	free(report->losses);
	free(report->pinners);
	for (size_t i = 0; report->sites && i < named_cnt(report); i++)
		held_by_deinit(&report->sites[i]);
	free(report->sites);
	free(report->location_store);
	joined_histories_deinit(&report->joined);
	joined_histories_deinit(&report->joined_calls);
	memset(report, 0, sizeof(*report));
}
