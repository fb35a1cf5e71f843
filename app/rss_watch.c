// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts readings of resident memory, and takes their results when these are ready. */
#include "app/rss_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proof/rss_reader.h"

/* Maximum time to send the request for a reading, in nanoseconds */
#define SEND_NS 50000000ULL

/* Maximum duration of a reading, in nanoseconds. After a timeout the process is not read again. */
#define GIVE_UP_NS 60000000000ULL

/*
 * Maximum time since the last wait for a result, in nanoseconds. After a longer time, the result is
 * discarded, because it may have arrived long ago.
 */
#define STALE_NS 20000000000ULL

/* Pause after a reading, as a multiple of the reading's duration */
#define PAUSE_FACTOR 20

/*
 * Time until a retry after an error, in nanoseconds. The error may mean that the process is ending.
 */
#define RETRY_NS 10000000000ULL

/* Returns the tally of the only living process; NULL if there is none or there are several. */
static struct process_tally *only_process(const struct snapshot *snap)
{
	struct process_tally *found = NULL;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		struct process_tally *tally = &snap->tallies[i];

		if (!tally->footprint.is_known || tally->ended)
			continue;
		if (found)
			return NULL;
		found = tally;
	}
	return found;
}

static const struct heap *heap_of(const struct snapshot *snap, pid_t pid)
{
	static const struct heap none;

	for (size_t i = 0; i < snap->heap_cnt; i++)
		if (snap->heaps[i].pid == pid)
			return &snap->heaps[i];
	return &none;
}

static void forget_sites(struct rss_watch *watch)
{
	free(watch->site_ids);
	watch->site_ids = NULL;
	watch->site_cnt = 0;
}

/* Keeps the ids of the sites until the result arrives. */
static void keep_sites(struct rss_watch *watch, const struct snapshot *snap)
{
	forget_sites(watch);
	watch->site_ids = calloc(snap->site_cnt + 1, sizeof(*watch->site_ids));
	watch->site_cnt = watch->site_ids ? snap->site_cnt : 0;
	for (size_t i = 0; i < watch->site_cnt; i++)
		watch->site_ids[i] = snap->sites[i].id;
}

static void ask(struct rss_watch *watch, const struct process *process, const struct heap *heap)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (rss_begin(process, heap, now_ns + SEND_NS)) {
		watch->next_ns = now_ns + RETRY_NS;
		return;
	}
	watch->asked = process->pid;
	watch->asked_image = process->image;
	watch->asked_ns = watch->seen_ns = now_ns;
}

static void stop(struct rss_watch *watch, uint64_t next_ns)
{
	rss_stop();
	watch->asked = 0;
	watch->next_ns = next_ns;
}

bool rss_watch_is_due(const struct rss_watch *watch, bool is_last)
{
	return clock_ns(CLOCK_MONOTONIC) >= watch->next_ns ||
	       (is_last && watch->next_ns != UINT64_MAX);
}

void rss_watch_begin(struct rss_watch *watch, const struct snapshot *snap, bool is_last,
		     bool has_blocks)
{
	const struct process_tally *tally = only_process(snap);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (watch->asked && now_ns - watch->seen_ns > STALE_NS)
		stop(watch, watch->seen_ns + PAUSE_FACTOR * (watch->seen_ns - watch->asked_ns));
	else if (watch->asked && (!tally || tally->process->pid != watch->asked))
		stop(watch, now_ns);
	if (!tally || watch->asked || !rss_watch_is_due(watch, is_last))
		return;
	if (has_blocks)
		keep_sites(watch, snap);
	else
		forget_sites(watch);
	ask(watch, tally->process, has_blocks ? heap_of(snap, tally->process->pid) : NULL);
}

static void keep_pinners(struct rss_watch *watch, const struct rss_pinners *pinners)
{
	watch->pinner_cnt = 0;
	for (size_t i = 0; i < pinners->cnt; i++) {
		if (pinners->items[i].site >= watch->site_cnt)
			continue;
		watch->pinners[watch->pinner_cnt].id = watch->site_ids[pinners->items[i].site];
		watch->pinners[watch->pinner_cnt++].bytes = pinners->items[i].bytes;
	}
}

/* Sets pinned_bytes of the sites from the latest reading. */
static void set_pinned(const struct rss_watch *watch, struct snapshot *snap)
{
	for (size_t i = 0; i < watch->pinner_cnt; i++)
		for (size_t j = 0; j < snap->site_cnt; j++)
			if (snap->sites[j].id == watch->pinners[i].id)
				snap->sites[j].pinned_bytes = watch->pinners[i].bytes;
}

static void take(struct rss_watch *watch, struct rss *rss, uint64_t deadline_ns)
{
	struct rss_reading reading;
	int err = rss_take(deadline_ns, &reading);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), taken_ns = now_ns - watch->asked_ns;

	if (!err) {
		*rss = reading.rss;
		watch->python = reading.python;
		watch->python_image = watch->asked_image;
		keep_pinners(watch, &reading.pinners);
	}
	if (err && (err != -ETIMEDOUT || taken_ns >= GIVE_UP_NS))
		watch->python = (struct python_growth){.class_cnt = 0};
	if (!err && watch->from_start) {
		memset(rss->older, 0, sizeof(rss->older));
		rss->pinned_by_older = 0;
	}
	watch->seen_ns = now_ns;
	if (err == -ETIMEDOUT && taken_ns >= GIVE_UP_NS) {
		stop(watch, UINT64_MAX);
	} else if (err != -ETIMEDOUT) {
		watch->asked = 0;
		watch->next_ns = now_ns + (err ? RETRY_NS : PAUSE_FACTOR * taken_ns);
	}
}

uint64_t rss_watch_finish(struct rss_watch *watch, struct snapshot *snap, uint64_t wait_ns)
{
	struct process_tally *tally = only_process(snap);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), waited_ns = 0;

	if (!tally)
		return 0;
	if (watch->asked) {
		take(watch, &tally->rss, begin_ns + wait_ns);
		waited_ns = watch->seen_ns - begin_ns;
	}
	set_pinned(watch, snap);
	if (watch->python_image == tally->process->image &&
	    (watch->python.class_cnt || watch->python.container_cnt))
		snap->python = arena_copy(&snap->arena, &watch->python, sizeof(watch->python));
	return waited_ns;
}

void rss_watch_deinit(struct rss_watch *watch)
{
	forget_sites(watch);
}
