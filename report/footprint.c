// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges each part of a footprint like a site, and compares its growth with that of traced blocks.
 */
#include "report/footprint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/hash_map.h"

/* Minimum value of leak_score.growth for a part of the footprint to count as growing. */
#define LEAST_GROWTH 0.9
/*
 * Minimum growth of a part: both LEAST_BYTES and LEAST_FRACTION of its size; for descriptors,
 * threads, child processes, timers and queues, LEAST_PIECES.
 */
#define LEAST_BYTES (256U << 10)
#define LEAST_FRACTION 0.001
#define LEAST_PIECES 8
/* Minimum growth of the number of mappings: both LEAST_MAPPINGS and this fraction of the number. */
#define LEAST_MAPPINGS 64
#define LEAST_MAPPINGS_FRACTION 0.01
/* Growth of the address space is judged if this fraction of its limit is in use. */
#define NEAR_LIMIT 0.5
/*
 * The growth of a part is explained if traced blocks, and free memory that the allocator keeps,
 * account for at least this fraction of the growth.
 */
#define EXPLAINED 0.5
/*
 * Minimum rise that is reported as growth that may go on: at least PENDING_BYTES, and at least
 * PENDING_FRACTION of the part's current size. Growth of FOOTPRINT_TOO_YOUNG has the same two
 * limits, but its fraction is of the anonymous memory.
 */
#define PENDING_BYTES (1U << 20)
#define PENDING_FRACTION 0.01
/* A part counts as level once it has reached this fraction of its rise. */
#define MOST_OF_RISE 0.9
/* Maximum fall during a rise, as a fraction of the rise. */
#define MOST_FALLEN 0.125
/*
 * Maximum time without growth during which more growth is still expected; the same as
 * LONGEST_QUIET_S in trend.c.
 */
#define LONGEST_QUIET_NS UINT64_C(60000000000)

/*
 * Size of a chunk of glibc's heap: the requested size and a header of CHUNK_HEADER bytes, rounded
 * up to a multiple of CHUNK_STEP, and at least LEAST_CHUNK_BYTES. Other allocators round similarly.
 */
#define CHUNK_HEADER 8
#define CHUNK_STEP 16
#define LEAST_CHUNK_BYTES 32

/*
 * Indices of a process's series. The lower indices, below TRACED, are the parts of the footprint;
 * the others are series of traced blocks; MAPPING_CNT is their number. WITH_TOO_YOUNG is the sum of
 * TRACED and FOOTPRINT_TOO_YOUNG. OVERHEAD is what the heap's chunks have above the requested size.
 */
enum { TRACED = FOOTPRINT_CNT, TRACED_MAPPINGS, MAPPING_CNT, WITH_TOO_YOUNG, OVERHEAD, SERIES_CNT };

static const char *const part_names[] = {
	[FOOTPRINT_ANONYMOUS] = "anonymous",
	[FOOTPRINT_SHARED] = "shared",
	[FOOTPRINT_HUGE] = "huge",
	[FOOTPRINT_DESCRIPTORS] = "descriptors",
	[FOOTPRINT_THREADS] = "threads",
	[FOOTPRINT_VIRTUAL] = "virtual",
	[FOOTPRINT_FILES] = "files",
	[FOOTPRINT_CHILDREN] = "children",
	[FOOTPRINT_ZOMBIES] = "zombies",
	[FOOTPRINT_UNMAPPED] = "unmapped",
	[FOOTPRINT_TOO_YOUNG] = "too_young",
	[FOOTPRINT_MAPPINGS] = "mappings",
	[FOOTPRINT_TMPFS] = "tmpfs",
	[FOOTPRINT_ORPHANS] = "orphans",
	[FOOTPRINT_PAGE_TABLES] = "page_tables",
	[FOOTPRINT_SOCKETS] = "sockets",
	[FOOTPRINT_TIMERS] = "timers",
	[FOOTPRINT_QUEUES] = "queues",
};

_Static_assert(sizeof(part_names) / sizeof(part_names[0]) == FOOTPRINT_CNT,
	       "each part of a footprint has a name");

const char *footprint_part_name(enum footprint_part part)
{
	return part_names[part];
}

/*
 * The series of all processes. A process has SERIES_CNT series. They are stored as sites, because
 * struct ranking remembers sites.
 */
struct series_list {
	struct site *sites;
	const struct process_tally **tallies;
	size_t process_cnt;
	/*
	 * Key: number of the process image. Value: 1 + index in `tallies`, stored as a pointer.
	 */
	struct hash_map by_image;
};

static void series_list_deinit(struct series_list *list)
{
	free(list->sites);
	free(list->tallies);
	hash_map_deinit(&list->by_image);
}

static int add_process(struct series_list *list, const struct process_tally *tally)
{
	struct site *sites = &list->sites[list->process_cnt * SERIES_CNT];

	list->tallies[list->process_cnt++] = tally;
	for (size_t i = 0; i < SERIES_CNT; i++) {
		sites[i].id = hash_word(hash_word(0, tally->process->image), i);
		if (i < FOOTPRINT_CNT)
			sites[i].bytes = tally->footprint.parts[i];
	}
	sites[WITH_TOO_YOUNG].bytes = tally->footprint.parts[FOOTPRINT_TOO_YOUNG];
	return hash_map_set(&list->by_image, tally->process->image,
			    (void *)(uintptr_t)list->process_cnt);
}

/* Returns by how many bytes the chunks of a heap site exceed the requested size. */
static uint64_t overhead_of(const struct site *site)
{
	uint64_t each = site->count ? site->bytes / site->count : 0;
	uint64_t chunk = (each + CHUNK_HEADER + CHUNK_STEP - 1) / CHUNK_STEP * CHUNK_STEP;

	return site->count * ((chunk > LEAST_CHUNK_BYTES ? chunk : LEAST_CHUNK_BYTES) - each);
}

/*
 * Adds a site to the series of traced blocks. Skips kernel blocks and reserved address space, which
 * no part of the footprint contains.
 */
static void add_traced(struct series_list *list, const struct site *site)
{
	size_t at = site->process && site->space == SPACE_USER && site->kind != KIND_RESERVE
			    ? (uintptr_t)hash_map_get(&list->by_image, site->process->image)
			    : 0;
	struct site *sites;

	if (!at)
		return;
	sites = &list->sites[(at - 1) * SERIES_CNT];
	sites[TRACED].bytes += site->bytes;
	sites[WITH_TOO_YOUNG].bytes += site->bytes;
	if (site->kind == KIND_HEAP) {
		sites[OVERHEAD].bytes += overhead_of(site);
		return;
	}
	sites[TRACED_MAPPINGS].bytes += site->bytes;
	sites[MAPPING_CNT].bytes += site->count;
}

static int series_list_init(const struct snapshot *snap, struct series_list *ret)
{
	struct series_list list = {
		.sites = calloc(snap->tally_cnt * SERIES_CNT + 1, sizeof(*list.sites)),
		.tallies = calloc(snap->tally_cnt + 1, sizeof(*list.tallies)),
	};
	int err = list.sites && list.tallies ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < snap->tally_cnt; i++)
		if (snap->tallies[i].footprint.is_known)
			err = add_process(&list, &snap->tallies[i]);
	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		add_traced(&list, &snap->sites[i]);
	if (err)
		series_list_deinit(&list);
	else
		*ret = list;
	return err;
}

bool footprint_part_is_bytes(enum footprint_part part)
{
	return part != FOOTPRINT_DESCRIPTORS && part != FOOTPRINT_THREADS &&
	       part != FOOTPRINT_CHILDREN && part != FOOTPRINT_ZOMBIES &&
	       part != FOOTPRINT_MAPPINGS && part != FOOTPRINT_ORPHANS &&
	       part != FOOTPRINT_TIMERS && part != FOOTPRINT_QUEUES;
}

/* True if the growth of a part, from its history's beginning to `now`, is large enough. */
static bool is_large(enum footprint_part part, double gained, double now)
{
	if (part == FOOTPRINT_MAPPINGS)
		return gained >= LEAST_MAPPINGS && gained >= LEAST_MAPPINGS_FRACTION * now;
	return footprint_part_is_bytes(part)
		       ? gained >= LEAST_BYTES && gained >= LEAST_FRACTION * now
		       : gained >= LEAST_PIECES;
}

static bool grows(const struct site_history *history, enum footprint_part part, double gained)
{
	const struct trend *trend = &history->trend;
	double now = (double)history->points[history->point_cnt - 1]->bytes;

	if ((trend->tendency != TENDENCY_STEADY && trend->tendency != TENDENCY_STEPS) ||
	    trend->bytes_per_s <= 0 || trend->score.growth < LEAST_GROWTH ||
	    trend->since_ns < TREND_LEAST_S * UINT64_C(1000000000))
		return false;
	return is_large(part, gained, now);
}

/*
 * Returns the growth of a series since its latest point at or before since_ns. All series of a
 * process have points at the same times.
 */
static double gained_since(const struct site_history *history, uint64_t since_ns)
{
	const struct history_point *const *points = history->points;
	size_t last = history->point_cnt - 1, first = last;

	while (first && points[first]->elapsed_ns > since_ns)
		first--;
	return (double)points[last]->bytes - (double)points[first]->bytes;
}

/*
 * Returns how much of the growth of a part is free memory that the allocator keeps, which is no
 * leak.
 */
static double kept(const struct rss_pasts *pasts, const struct process *process,
		   enum footprint_part part, enum rss_kept which, uint64_t since_ns,
		   uint64_t now_ns)
{
	const struct rss_past *past = pasts ? rss_pasts_find(pasts, process->image) : NULL;

	if (!past || part != FOOTPRINT_ANONYMOUS)
		return 0;
	return rss_past_kept(past, which, since_ns, now_ns);
}

/*
 * Returns by how many bytes traced blocks have grown. Includes the growth of the largest block that
 * is too young for the report, if this block grows. The block may become old enough, and be traced,
 * in some reports. While it is copied, it and its copy may both count. So either series is enough.
 */
static double traced_gain(const struct growth *series, uint64_t since_ns)
{
	const struct site_history *young = series[FOOTPRINT_TOO_YOUNG].history;
	const struct site_history *all = series[WITH_TOO_YOUNG].history;
	double traced = gained_since(series[TRACED].history, since_ns);
	double gained = gained_since(all, since_ns);

	return gained > traced && (grows(all, FOOTPRINT_TOO_YOUNG, gained) ||
				   grows(young, FOOTPRINT_TOO_YOUNG, gained - traced))
		       ? gained
		       : traced;
}

/*
 * Like traced_gain(), but counts the overhead of chunks, and the growth of the block that is too
 * young twice: while a program copies the block, both copies are resident.
 */
static double resident_gain(const struct growth *series, uint64_t since_ns)
{
	return 2 * traced_gain(series, since_ns) - gained_since(series[TRACED].history, since_ns) +
	       gained_since(series[OVERHEAD].history, since_ns);
}

/* Returns by how many bytes resident shared memory has grown, including huge pages. */
static double shared_gain(const struct growth *series, uint64_t since_ns)
{
	return gained_since(series[FOOTPRINT_SHARED].history, since_ns) +
	       gained_since(series[FOOTPRINT_HUGE].history, since_ns);
}

/* Returns by how many bytes resident memory of all kinds has grown. */
static double all_resident_gain(const struct growth *series, uint64_t since_ns)
{
	return gained_since(series[FOOTPRINT_ANONYMOUS].history, since_ns) +
	       gained_since(series[FOOTPRINT_FILES].history, since_ns) +
	       shared_gain(series, since_ns);
}

/*
 * Returns by how many bytes the address space in use has grown; INFINITY if the address space is
 * not near its limit, because address space alone costs nothing.
 */
static double used_gain(const struct process_tally *tally, const struct growth *series,
			uint64_t since_ns)
{
	const struct footprint *footprint = &tally->footprint;

	if (!footprint->virtual_max || (double)footprint->parts[FOOTPRINT_VIRTUAL] <
					       NEAR_LIMIT * (double)footprint->virtual_max)
		return INFINITY;
	return all_resident_gain(series, since_ns);
}

/*
 * Returns how much of the growth of a part is due to causes other than an untraced leak; INFINITY
 * if growth of the part is never reported.
 */
static double explained(const struct snapshot *snap, const struct process_tally *tally,
			const struct growth *series, enum footprint_part part, double gained,
			uint64_t since_ns)
{
	if (snap->descriptors.are_traced)
		return part == FOOTPRINT_DESCRIPTORS
			       ? gained_since(series[TRACED].history, since_ns)
			       : INFINITY;
	switch (part) {
	case FOOTPRINT_ANONYMOUS:
		/*
		 * With size filters, blocks that the filters leave out may have caused the growth,
		 * so the growth is no sign of a leak.
		 */
		return snap->run.has_size_filters ? INFINITY : resident_gain(series, since_ns);
	case FOOTPRINT_SHARED:
	case FOOTPRINT_FILES:
		/*
		 * Growth without new address space is no leak: the process may be using, for the
		 * first time, memory that it mapped earlier, as databases do.
		 */
		return gained - gained_since(series[FOOTPRINT_VIRTUAL].history, since_ns);
	case FOOTPRINT_UNMAPPED:
		/*
		 * Mapped shared memory is in FOOTPRINT_UNMAPPED, and again in FOOTPRINT_SHARED or
		 * FOOTPRINT_HUGE.
		 */
		return shared_gain(series, since_ns);
	case FOOTPRINT_HUGE:
		return gained_since(series[TRACED_MAPPINGS].history, since_ns);
	case FOOTPRINT_MAPPINGS:
		/* A thread has two mappings: its stack and the guard page. */
		return gained_since(series[MAPPING_CNT].history, since_ns) +
		       2 * gained_since(series[FOOTPRINT_THREADS].history, since_ns);
	case FOOTPRINT_VIRTUAL:
		return used_gain(tally, series, since_ns);
	case FOOTPRINT_PAGE_TABLES:
		return all_resident_gain(series, since_ns);
	case FOOTPRINT_TMPFS:
		return shared_gain(series, since_ns) +
		       gained_since(series[FOOTPRINT_UNMAPPED].history, since_ns);
	case FOOTPRINT_DESCRIPTORS:
	case FOOTPRINT_THREADS:
	case FOOTPRINT_CHILDREN:
	case FOOTPRINT_ZOMBIES:
	case FOOTPRINT_SOCKETS:
	case FOOTPRINT_TIMERS:
	case FOOTPRINT_QUEUES:
		return 0;
	case FOOTPRINT_ORPHANS:
		/* They may be those of another instance of the program. */
	case FOOTPRINT_TOO_YOUNG:
	case FOOTPRINT_CNT:
		break;
	}
	return INFINITY;
}

/* The rise of a part of a footprint since the part was smallest. */
struct rise {
	double gained;
	double fallen;       /* largest fall since the part was smallest */
	double before;       /* largest size before the part was smallest */
	uint64_t since_ns;   /* when the part was smallest */
	uint64_t reached_ns; /* when the rise reached MOST_OF_RISE, as time since first_point() */
};

/*
 * Returns the index of the first point that is not empty. If a process was found, or called exec,
 * after the first report, its history begins with empty points.
 */
static size_t first_point(const struct growth *series)
{
	const struct site_history *history = series[FOOTPRINT_VIRTUAL].history;
	size_t i = 0;

	while (i + 1 < history->point_cnt && !history->points[i]->bytes)
		i++;
	return i;
}

static struct rise rise_of(const struct growth *series, enum footprint_part part)
{
	const struct site_history *history = series[part].history;
	const struct history_point *const *points = history->points;
	size_t last = history->point_cnt - 1, first = first_point(series), low = first;
	struct rise rise = {0};
	double most = 0;

	for (size_t i = first; i <= last; i++)
		if (points[i]->bytes <= points[low]->bytes)
			low = i;
	for (size_t i = first; i < low; i++)
		rise.before = fmax(rise.before, (double)points[i]->bytes);
	rise.gained = (double)points[last]->bytes - (double)points[low]->bytes;
	rise.since_ns = points[low]->elapsed_ns;
	rise.reached_ns = points[last]->elapsed_ns;
	for (size_t i = last + 1; i-- > low;)
		if ((double)points[i]->bytes >=
		    (double)points[low]->bytes + MOST_OF_RISE * rise.gained)
			rise.reached_ns = points[i]->elapsed_ns;
	for (size_t i = low; i <= last; i++) {
		most = fmax(most, (double)points[i]->bytes);
		rise.fallen = fmax(rise.fallen, most - (double)points[i]->bytes);
	}
	rise.reached_ns -= points[first]->elapsed_ns;
	return rise;
}

/*
 * True if a rise may go on: it is large, the part has hardly fallen since it was smallest, and was
 * never as large before. The part must also have been level for less than half of the time since
 * first_point(), and for less than LONGEST_QUIET_NS.
 */
static bool may_go_on(const struct growth *series, enum footprint_part part,
		      const struct rise *rise)
{
	const struct site_history *history = series[part].history;
	const struct history_point *now = history->points[history->point_cnt - 1];
	uint64_t traced_ns = now->elapsed_ns - history->points[first_point(series)]->elapsed_ns;
	uint64_t level_ns = traced_ns - rise->reached_ns;

	return rise->gained >= PENDING_BYTES &&
	       rise->gained >= PENDING_FRACTION * (double)now->bytes &&
	       rise->fallen <= MOST_FALLEN * rise->gained &&
	       rise->before < (double)now->bytes - (1 - MOST_OF_RISE) * rise->gained &&
	       level_ns < rise->reached_ns && level_ns < LONGEST_QUIET_NS;
}

/*
 * True if a rise is to be reported instead of the rise found so far, if any. A rise of anonymous
 * memory is reported only if no other part rises, because the allocator may explain it.
 */
static bool outranks(enum footprint_part part, double gained, const struct untraced_growths *found)
{
	bool was_anonymous = found->pending.part == FOOTPRINT_ANONYMOUS;

	if (!found->pending.process)
		return true;
	return (part == FOOTPRINT_ANONYMOUS) == was_anonymous ? gained > found->pending_bytes
							      : was_anonymous;
}

static void judge_pending(const struct snapshot *snap, const struct rss_pasts *pasts,
			  const struct process_tally *tally, const struct growth *series,
			  enum footprint_part part, struct untraced_growths *ret)
{
	const struct site_history *history = series[part].history;
	uint64_t now_ns = history->points[history->point_cnt - 1]->elapsed_ns;
	struct rise rise = rise_of(series, part);
	double for_s = (double)(now_ns - rise.since_ns) / 1e9;

	if (!may_go_on(series, part, &rise) || !outranks(part, rise.gained, ret) ||
	    explained(snap, tally, series, part, rise.gained, rise.since_ns) +
			    kept(pasts, tally->process, part, RSS_KEPT_ALL, rise.since_ns,
				 now_ns) >=
		    EXPLAINED * rise.gained)
		return;
	ret->pending = (struct untraced_growth){
		.process = tally->process,
		.part = part,
		.per_s = rise.gained / for_s,
		.traced_per_s = fmax(traced_gain(series, rise.since_ns), 0) / for_s,
		.since_ns = now_ns - rise.since_ns,
	};
	ret->pending_bytes = rise.gained;
}

/* True for memory that the kernel cannot take back from the process. */
static bool part_stays(enum footprint_part part)
{
	return part == FOOTPRINT_ANONYMOUS || part == FOOTPRINT_SHARED ||
	       part == FOOTPRINT_UNMAPPED;
}

/*
 * Judges the largest block that is too young for the report. A buffer that is often replaced by a
 * larger copy may never become old enough. The largest block is judged instead of the sum, because
 * the sum includes both copies during copying.
 */
static void judge_too_young(const struct process *process, const struct growth *series,
			    struct untraced_growths *ret)
{
	const struct site_history *history = series[FOOTPRINT_TOO_YOUNG].history;
	const struct site_history *anonymous = series[FOOTPRINT_ANONYMOUS].history;
	const struct trend *trend = &history->trend;
	size_t last = history->point_cnt - 1;
	double gained = gained_since(history, history->points[last]->elapsed_ns - trend->since_ns);

	if (!grows(history, FOOTPRINT_TOO_YOUNG, gained) || gained < PENDING_BYTES ||
	    gained < PENDING_FRACTION * (double)anonymous->points[last]->bytes ||
	    trend->bytes_per_s <= ret->too_young.per_s)
		return;
	ret->too_young = (struct untraced_growth){
		.process = process,
		.part = FOOTPRINT_TOO_YOUNG,
		.per_s = trend->bytes_per_s,
		.since_ns = trend->since_ns,
	};
}

/*
 * Growth of the user's files on tmpfs is pending at most, because another process of the user
 * may have caused it.
 */
static void judge_tmpfs(const struct untraced_growth *growth, double explained, double gained,
			struct untraced_growths *ret)
{
	if (explained >= EXPLAINED * gained || !outranks(FOOTPRINT_TMPFS, gained, ret))
		return;
	ret->pending = *growth;
	ret->pending_bytes = gained;
}

static void judge(const struct snapshot *snap, const struct rss_pasts *pasts,
		  const struct process_tally *tally, const struct growth *series,
		  enum footprint_part part, struct untraced_growths *ret)
{
	const struct site_history *history = series[part].history;
	const struct trend *trend = &history->trend;
	uint64_t now_ns = history->points[history->point_cnt - 1]->elapsed_ns;
	uint64_t since_ns = now_ns - trend->since_ns;
	double gained = gained_since(history, since_ns);
	double traced = traced_gain(series, since_ns);
	double by_traced, returnable;
	struct untraced_growth growth = {
		.process = tally->process,
		.part = part,
		.per_s = trend->bytes_per_s,
		.traced_per_s = traced > 0 ? traced * 1e9 / (double)trend->since_ns : 0,
		.since_ns = trend->since_ns,
	};

	if (!grows(history, part, gained)) {
		/*
		 * Look for rises only if tracing began after the start-up (-p): processes that have
		 * just started grow for a while.
		 */
		if (snap->run.had_begun && part_stays(part))
			judge_pending(snap, pasts, tally, series, part, ret);
		return;
	}
	by_traced = explained(snap, tally, series, part, gained, since_ns);
	/*
	 * Pinned memory does not explain growth: if it grows without end, that is a fault, although
	 * not a leak.
	 */
	returnable = kept(pasts, tally->process, part, RSS_KEPT_RETURNABLE, since_ns, now_ns);
	if (part == FOOTPRINT_TMPFS)
		judge_tmpfs(&growth, by_traced, gained, ret);
	else if (by_traced + returnable < EXPLAINED * gained)
		ret->items[ret->cnt++] = growth;
	else if ((by_traced >= EXPLAINED * gained || returnable < EXPLAINED * gained) &&
		 part == FOOTPRINT_ANONYMOUS && !snap->descriptors.are_traced &&
		 growth.per_s > ret->explained.per_s)
		ret->explained = growth;
}

static int judge_all(const struct snapshot *snap, const struct rss_pasts *pasts,
		     const struct series_list *list, const struct growth *growth,
		     struct untraced_growths *ret)
{
	ret->items = calloc(list->process_cnt * FOOTPRINT_CNT + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < list->process_cnt; i++) {
		const struct growth *series = &growth[i * SERIES_CNT];

		for (size_t part = 0; part < FOOTPRINT_CNT; part++)
			judge(snap, pasts, list->tallies[i], series, (enum footprint_part)part,
			      ret);
		if (!snap->descriptors.are_traced)
			judge_too_young(list->tallies[i]->process, series, ret);
	}
	return 0;
}

int untraced_growths_init(const struct snapshot *snap, bool is_reported,
			  const struct rss_pasts *pasts, struct ranking *ranking,
			  struct untraced_growths *ret)
{
	cleanup_free struct growth *growth = NULL;
	struct snapshot view = {.elapsed_ns = snap->elapsed_ns};
	struct series_list list;
	int err = series_list_init(snap, &list);

	*ret = (struct untraced_growths){0};
	if (err)
		return err;
	view.sites = list.sites;
	view.site_cnt = list.process_cnt * SERIES_CNT;
	growth = calloc(view.site_cnt + 1, sizeof(*growth));
	if (!growth)
		err = -ENOMEM;
	else if (!is_reported)
		err = ranking__note(ranking, &view);
	else
		err = ranking__update(ranking, &view, growth);
	/*
	 * Forget processes that are not in this snapshot: they have ended, so their series do not
	 * come back.
	 */
	ranking__forget_absent(ranking);
	if (!err && is_reported)
		err = judge_all(snap, pasts, &list, growth, ret);
	series_list_deinit(&list);
	return err;
}

void untraced_growths_deinit(struct untraced_growths *growths)
{
	free(growths->items);
	*growths = (struct untraced_growths){0};
}

double untraced_bytes_per_s(const struct untraced_growths *growths)
{
	double sum = 0;

	for (size_t i = 0; i < growths->cnt; i++)
		if (footprint_part_is_bytes(growths->items[i].part))
			sum += growths->items[i].per_s;
	return sum;
}
