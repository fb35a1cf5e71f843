// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers sites by their ids. A site that holds no memory any more is remembered for
 * HISTORY_POINTS_MAX more updates, unless its process has ended. So the history survives if a site
 * is empty for a while.
 */
#include "report/ranking.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "report/shared_points.h"

struct entry {
	struct entry *next;
	struct site_history history;
	/*
	 * Number of the process image that the site belongs to; 0 if it belongs to several images
	 * or none.
	 */
	uint32_t image;
	/* Value of ranking->updates when a snapshot last contained the site. */
	uint64_t update;
	uint64_t reported_bytes; /* bytes, and number of blocks, at the last report */
	uint64_t reported_count;
	uint32_t last[AGE_CLASS_CNT]; /* sampled blocks in the latest snapshot, by age */
};

/* Sums over all sites of a process. */
struct process_sum {
	uint64_t bytes;
	uint64_t blocks;
	struct earlier_frees earlier;
	bool ended;
};

struct process_sums {
	struct process_sum *items;
	size_t cnt, cap;
	/* Key: number of the process image. Value: 1 + index in `items`, stored as a pointer. */
	struct hash_map by_image;
};

struct ranking {
	struct entry *entries; /* all entries, unsorted */
	struct hash_map by_id; /* finds an entry by its site id */
	struct process_sums processes;
	struct process_sums last_processes; /* `processes` as it was at the previous snapshot */
	struct shared_points points;        /* points of the snapshot that is being added */
	uint64_t updates;
	uint64_t first_ns;   /* elapsed_ns of the first snapshot */
	uint64_t elapsed_ns; /* elapsed_ns of the latest snapshot */
};

static void process_sums_deinit(struct process_sums *sums)
{
	free(sums->items);
	hash_map_deinit(&sums->by_image);
	*sums = (struct process_sums){0};
}

static void free_entry(struct entry *entry)
{
	for (size_t i = 0; i < entry->history.point_cnt; i++)
		history_point_drop(entry->history.points[i]);
	free(entry->history.points);
	free(entry);
}

int ranking__new(struct ranking **ret)
{
	struct ranking *ranking = calloc(1, sizeof(*ranking));

	if (!ranking)
		return -ENOMEM;
	*ret = ranking;
	return 0;
}

void ranking__free(struct ranking *ranking)
{
	struct entry *next;

	if (!ranking)
		return;
	for (struct entry *entry = ranking->entries; entry; entry = next) {
		next = entry->next;
		free_entry(entry);
	}
	hash_map_deinit(&ranking->by_id);
	process_sums_deinit(&ranking->processes);
	process_sums_deinit(&ranking->last_processes);
	free(ranking);
}

/* Drops the point of a full history that says least about the past. */
static void drop_point(struct site_history *history)
{
	uint64_t ns[HISTORY_POINTS_MAX];
	size_t at;

	for (size_t i = 0; i < history->point_cnt; i++)
		ns[i] = history->points[i]->elapsed_ns;
	at = moments_least_informative(ns, history->point_cnt);
	history_point_drop(history->points[at]);
	array_remove(history->points, &history->point_cnt, at);
}

static int add_point(struct ranking *ranking, struct site_history *history,
		     const struct history_point *point)
{
	const struct history_point *stored;

	if (history->point_cnt == HISTORY_POINTS_MAX)
		drop_point(history);
	if (array_reserve(&history->points, &history->point_cap, history->point_cnt + 1))
		return -ENOMEM;
	stored = shared_points_get(&ranking->points, point);
	if (!stored)
		return -ENOMEM;
	history->points[history->point_cnt++] = stored;
	return 0;
}

static struct process_sum process_sum(const struct process_sums *sums, uint32_t image)
{
	size_t place = (uintptr_t)hash_map_get(&sums->by_image, image);

	return place ? sums->items[place - 1] : (struct process_sum){0};
}

static int add_to_process(struct process_sums *sums, uint32_t image, const struct process_sum *more)
{
	size_t place = (uintptr_t)hash_map_get(&sums->by_image, image);
	struct process_sum *sum;

	if (!place) {
		if (array_reserve(&sums->items, &sums->cap, sums->cnt + 1) ||
		    hash_map_set(&sums->by_image, image, (void *)(uintptr_t)(sums->cnt + 1)))
			return -ENOMEM;
		sums->items[sums->cnt] = (struct process_sum){0};
		place = ++sums->cnt;
	}
	sum = &sums->items[place - 1];
	sum->bytes += more->bytes;
	sum->blocks += more->blocks;
	sum->earlier.cnt += more->earlier.cnt;
	sum->earlier.sized += more->earlier.sized;
	sum->earlier.bytes += more->earlier.bytes;
	sum->ended |= more->ended;
	return 0;
}

/*
 * True if the number of frees of blocks from before tracing is known. If some blocks are suppressed
 * or untracked, the number is unknown, because frees of such blocks look like frees of blocks from
 * before tracing.
 */
static bool earlier_are_known(const struct snapshot *snap)
{
	static const enum loss untracked[] = {LOSS_ALLOCS_FULL, LOSS_SITES_FULL, LOSS_THREADS_FULL,
					      LOSS_NO_MEMORY, LOSS_QUOTA_FULL};

	for (size_t i = 0; i < sizeof(untracked) / sizeof(untracked[0]); i++)
		if (snap->lost[untracked[i]])
			return false;
	for (size_t i = 0; i < snap->suppressed_cnt; i++)
		if (snap->suppressed[i].count)
			return false;
	return true;
}

static int sum_processes(struct ranking *ranking, const struct snapshot *snap)
{
	bool earlier_known = earlier_are_known(snap);
	struct process_sums *sums = &ranking->processes;
	int err = 0;

	process_sums_deinit(&ranking->last_processes);
	ranking->last_processes = *sums;
	*sums = (struct process_sums){0};
	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];
		const struct process_sum held = {.bytes = site->bytes, .blocks = site->count};

		if (site->process)
			err = add_to_process(sums, site->process->image, &held);
	}
	for (size_t i = 0; !err && i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];
		struct process_sum more = {.ended = tally->ended};

		if (earlier_known)
			more.earlier = tally->earlier;
		err = add_to_process(sums, tally->process->image, &more);
	}
	return err;
}

/*
 * Makes a history point from the state of a site. count_blocks() must have been called for the
 * site.
 */
static struct history_point point_of(const struct ranking *ranking, const struct entry *entry,
				     uint64_t elapsed_ns, const struct site *site)
{
	struct process_sum process = process_sum(&ranking->processes, entry->image);
	struct history_point ret = {
		.elapsed_ns = elapsed_ns,
		.bytes = site->bytes,
		.count = site->count,
		.process_bytes = entry->image ? process.bytes : site->bytes,
		.process_blocks = process.blocks,
		.earlier = process.earlier,
	};

	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		if (!site->ages.count[i] && !entry->history.freed[i])
			continue;
		for (size_t span = 0; span <= SPAN_CNT; span++) {
			if (i < span_class(span))
				continue;
			ret.held_bytes[span] += (float)site->ages.bytes[i];
			ret.held[span] += site->ages.count[i];
			ret.freed[span] += (uint32_t)entry->history.freed[i];
		}
	}
	return ret;
}

static void count_blocks(struct entry *entry, const struct site *site)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		uint32_t last = entry->last[i], kept = site->kept[i] < last ? site->kept[i] : last;

		entry->history.freed[i] += last - kept;
		entry->history.seen += site->ages.count[i];
		entry->history.seen -= kept;
		entry->last[i] = site->ages.count[i];
	}
}

/*
 * Adds a site. Unless this is the first update, the site's history begins with an empty point at
 * the time of the previous update.
 */
static int add_site(struct ranking *ranking, const struct site *site, struct entry **ret)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	struct history_point none = {.elapsed_ns = ranking->elapsed_ns};
	struct process_sum last;

	if (!entry)
		return -ENOMEM;
	entry->history.id = site->id;
	if (site->process) {
		entry->image = site->process->image;
		last = process_sum(&ranking->last_processes, entry->image);
		none.process_bytes = last.bytes;
		none.process_blocks = last.blocks;
		none.earlier = last.earlier;
	}
	if ((ranking->updates > 1 && add_point(ranking, &entry->history, &none)) ||
	    hash_map_set(&ranking->by_id, site->id, entry)) {
		free_entry(entry);
		return -ENOMEM;
	}
	entry->next = ranking->entries;
	ranking->entries = entry;
	*ret = entry;
	return 0;
}

static void note_report(struct entry *entry, const struct site *site)
{
	entry->reported_bytes = site->bytes;
	entry->reported_count = site->count;
}

/* Adds a point to a site's history. Unless `ret` is NULL, sets the site's trend and *ret. */
static int update_site(struct ranking *ranking, const struct snapshot *snap,
		       const struct site *site, bool is_reported, struct growth *ret)
{
	struct entry *entry = hash_map_get(&ranking->by_id, site->id);
	struct site_history *history;
	struct history_point point;
	int err = entry ? 0 : add_site(ranking, site, &entry);

	if (err)
		return err;
	history = &entry->history;
	count_blocks(entry, site);
	point = point_of(ranking, entry, snap->elapsed_ns, site);
	err = add_point(ranking, history, &point);
	if (err)
		return err;
	entry->update = ranking->updates;
	if (ret) {
		trend_of(history, &history->trend);
		*ret = (struct growth){
			.bytes = (int64_t)(site->bytes - entry->reported_bytes),
			.count = (int64_t)(site->count - entry->reported_count),
			.history = history,
		};
	}
	if (is_reported)
		note_report(entry, site);
	return 0;
}

/* Removes the entry at *link from the list of entries and from by_id, and frees it. */
static void drop_entry(struct ranking *ranking, struct entry **link)
{
	struct entry *entry = *link;

	*link = entry->next;
	hash_map_remove(&ranking->by_id, entry->history.id);
	free_entry(entry);
}

/*
 * True if a site is not in the latest snapshot and is to be forgotten: it has been missing for more
 * than HISTORY_POINTS_MAX updates, or its process has ended.
 */
static bool is_over(const struct ranking *ranking, const struct entry *entry)
{
	if (entry->update == ranking->updates)
		return false;
	return ranking->updates - entry->update > HISTORY_POINTS_MAX ||
	       process_sum(&ranking->processes, entry->image).ended ||
	       process_sum(&ranking->last_processes, entry->image).ended;
}

/*
 * Adds an empty point to the history of each site that is not in the snapshot. Drops sites that
 * have been missing for a long time, and sites of ended processes.
 */
static int update_absent(struct ranking *ranking, const struct snapshot *snap, bool is_reported)
{
	const struct site nothing = {0};
	struct entry **link = &ranking->entries, *entry;
	struct history_point point;
	int err = 0;

	while (!err && (entry = *link)) {
		if (is_over(ranking, entry)) {
			drop_entry(ranking, link);
			continue;
		}
		if (entry->update != ranking->updates) {
			count_blocks(entry, &nothing);
			point = point_of(ranking, entry, snap->elapsed_ns, &nothing);
			err = add_point(ranking, &entry->history, &point);
			if (is_reported)
				note_report(entry, &nothing);
		}
		link = &entry->next;
	}
	return err;
}

static int begin_update(struct ranking *ranking, const struct snapshot *snap)
{
	if (!ranking->updates++)
		ranking->first_ns = snap->elapsed_ns;
	return sum_processes(ranking, snap);
}

static int end_update(struct ranking *ranking, const struct snapshot *snap, bool is_reported,
		      int err)
{
	if (!err)
		err = update_absent(ranking, snap, is_reported);
	shared_points_end(&ranking->points);
	ranking->elapsed_ns = snap->elapsed_ns;
	return err;
}

static int update(struct ranking *ranking, const struct snapshot *snap, bool is_reported,
		  struct growth *growth)
{
	int err = begin_update(ranking, snap);

	for (size_t i = 0; !err && i < snap->site_cnt; i++)
		err = update_site(ranking, snap, &snap->sites[i], is_reported,
				  growth ? &growth[i] : NULL);
	return end_update(ranking, snap, is_reported, err);
}

int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth)
{
	return update(ranking, snap, true, growth);
}

int ranking__update_sums(struct ranking *ranking, const struct snapshot *snap,
			 void (*make)(const void *arg, size_t i, struct site *ret), const void *arg,
			 size_t cnt, struct growth *growth)
{
	int err = begin_update(ranking, snap);
	struct site sum;

	for (size_t i = 0; !err && i < cnt; i++) {
		make(arg, i, &sum);
		err = update_site(ranking, snap, &sum, true, &growth[i]);
	}
	return end_update(ranking, snap, true, err);
}

int ranking__note(struct ranking *ranking, const struct snapshot *snap)
{
	return update(ranking, snap, false, NULL);
}

void ranking__forget_absent(struct ranking *ranking)
{
	struct entry **link = &ranking->entries;

	while (*link)
		if ((*link)->update != ranking->updates)
			drop_entry(ranking, link);
		else
			link = &(*link)->next;
}

struct ranking_past ranking__past(const struct ranking *ranking)
{
	return (struct ranking_past){ranking->updates, ranking->elapsed_ns - ranking->first_ns};
}
