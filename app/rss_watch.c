// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests readings of resident memory, and adds their results to a snapshot when they are ready.
 */
#include "app/rss_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/prover.h"
#include "base/clock.h"
#include "proof/rss_reader.h"

/* Maximum time to send the request for a reading to the helper process, in nanoseconds */
#define SEND_NS 50000000ULL

/*
 * Maximum duration of a reading, in nanoseconds. A process that takes longer is never read again.
 */
#define GIVE_UP_NS 60000000000ULL

/*
 * Maximum interval, in nanoseconds, between two attempts to receive the result of a reading. After
 * a longer interval, the reading is stopped and its result is not used: it may be out of date.
 */
#define STALE_NS 20000000000ULL

/* Pause after a round of readings, as a multiple of the time that the readings have taken */
#define PAUSE_FACTOR 20

/*
 * Minimum time until the next round if a reading has failed, in nanoseconds. A failure may mean
 * that the process is ending.
 */
#define RETRY_NS 10000000000ULL

/*
 * The living traced processes, whose memory is read; empty if there are more than
 * RSS_PROCESSES_MAX.
 */
struct living {
	struct process_tally *items[RSS_PROCESSES_MAX];
	size_t cnt;
};

static struct living list_living(const struct snapshot *snap)
{
	struct living living = {.cnt = 0};

	if (snapshot_living(snap) > RSS_PROCESSES_MAX)
		return living;
	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (process_tally_is_living(&snap->tallies[i]))
			living.items[living.cnt++] = &snap->tallies[i];
	return living;
}

static bool is_asked(const struct rss_watch *watch, const struct process *process)
{
	return process->pid == watch->asked && process->image == watch->asked_image;
}

static bool lives(const struct rss_watch *watch, const struct living *living)
{
	for (size_t i = 0; i < living->cnt; i++)
		if (is_asked(watch, living->items[i]->process))
			return true;
	return false;
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

/*
 * Stores the ids of the snapshot's sites until the result arrives, which refers to sites by index.
 */
static void keep_sites(struct rss_watch *watch, const struct snapshot *snap)
{
	forget_sites(watch);
	watch->site_ids = calloc(snap->site_cnt + 1, sizeof(*watch->site_ids));
	watch->site_cnt = watch->site_ids ? snap->site_cnt : 0;
	for (size_t i = 0; i < watch->site_cnt; i++)
		watch->site_ids[i] = snap->sites[i].id;
}

static struct rss_result *result_of(struct rss_watch *watch, uint32_t image)
{
	for (size_t i = 0; i < watch->result_cnt; i++)
		if (watch->results[i].image == image)
			return &watch->results[i];
	return NULL;
}

/* Drops the results of processes that have ended, and adds empty results for new processes. */
static void renew_results(struct rss_watch *watch, const struct living *living)
{
	struct rss_result results[RSS_PROCESSES_MAX];

	for (size_t i = 0; i < living->cnt; i++) {
		uint32_t image = living->items[i]->process->image;
		const struct rss_result *result = result_of(watch, image);

		results[i] = result ? *result : (struct rss_result){.image = image};
	}
	memcpy(watch->results, results, living->cnt * sizeof(*results));
	watch->result_cnt = living->cnt;
}

static void begin_round(struct rss_watch *watch)
{
	watch->is_in_round = true;
	watch->has_failed = false;
	watch->spent_ns = 0;
	for (size_t i = 0; i < watch->result_cnt; i++) {
		watch->results[i].is_done = watch->results[i].is_given_up;
		watch->results[i].rss = (struct rss){.arenas = 0};
	}
}

static pid_t copy_of(const struct rss_watch *watch, const struct process *process)
{
	return watch->prover && !watch->avoids_copies
		       ? prover_copy_of(watch->prover, process->image)
		       : 0;
}

/*
 * Starts to read the first process that was not read yet in this round. heap: as for rss_begin().
 */
static void ask_next(struct rss_watch *watch, const struct living *living, const struct heap *heap)
{
	for (size_t i = 0; i < living->cnt; i++) {
		const struct process *process = living->items[i]->process;
		struct rss_result *result = result_of(watch, process->image);
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		pid_t copy;

		if (!result || result->is_done)
			continue;
		copy = copy_of(watch, process);
		if (!rss_begin(living->items[i], heap, living->cnt == 1, copy, now_ns + SEND_NS)) {
			watch->asked = process->pid;
			watch->asked_copy = copy != 0;
			watch->asked_image = process->image;
			watch->asked_ns = watch->seen_ns = now_ns;
			return;
		}
		result->is_done = true;
		watch->has_failed = true;
	}
}

static void stop(struct rss_watch *watch, uint64_t next_ns)
{
	rss_stop();
	watch->asked = 0;
	watch->is_in_round = false;
	watch->next_ns = next_ns;
}

bool rss_watch_is_due(const struct rss_watch *watch, bool is_last)
{
	return clock_ns(CLOCK_MONOTONIC) >= watch->next_ns ||
	       (is_last && watch->next_ns != UINT64_MAX);
}

void rss_watch_hurry(struct rss_watch *watch)
{
	if (watch->next_ns != UINT64_MAX)
		watch->next_ns = 0;
}

void rss_watch_begin(struct rss_watch *watch, const struct snapshot *snap, bool is_last,
		     bool has_blocks)
{
	const struct living living = list_living(snap);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	watch->is_last = is_last;
	if (watch->asked && now_ns - watch->seen_ns > STALE_NS)
		stop(watch, watch->seen_ns + PAUSE_FACTOR * (watch->seen_ns - watch->asked_ns));
	else if (watch->asked && !lives(watch, &living))
		stop(watch, now_ns);
	renew_results(watch, &living);
	if (!living.cnt || watch->asked)
		return;
	if (!watch->is_in_round && !rss_watch_is_due(watch, is_last))
		return;
	if (!watch->is_in_round)
		begin_round(watch);
	has_blocks &= living.cnt == 1;
	if (has_blocks)
		keep_sites(watch, snap);
	else
		forget_sites(watch);
	ask_next(watch, &living, has_blocks ? heap_of(snap, living.items[0]->process->pid) : NULL);
}

void rss_watch_find_adders(struct rss_watch *watch, struct source *source)
{
	if (source->ops->find_adders)
		source->ops->find_adders(source, watch->python_image, watch->python.containers,
					 watch->python.container_cnt);
}

/*
 * Returns the container as it was in the previous result of its process. Finds it by address and
 * class, because several may have the same name. Returns an empty container if there was none.
 */
static const struct python_container *earlier_one(const struct python_growth *earlier,
						  const struct python_container *container)
{
	static const struct python_container none;

	for (size_t i = 0; i < earlier->container_cnt; i++)
		if (earlier->containers[i].addr == container->addr &&
		    !strcmp(earlier->containers[i].class, container->class))
			return &earlier->containers[i];
	return &none;
}

/*
 * Stores the growth of Python's objects from a reading. Replaces indexes of sites by their ids. For
 * each container, copies the script line that adds items from the previous result.
 */
static void keep_python(struct rss_watch *watch, const struct rss_reading *reading)
{
	struct python_growth earlier = watch->python;

	if (watch->python_image != watch->asked_image)
		earlier.container_cnt = 0;
	watch->python = reading->python;
	watch->python_image = watch->asked_image;
	for (size_t i = 0; i < watch->python.container_cnt; i++) {
		struct python_container *container = &watch->python.containers[i];
		const struct python_container *before = earlier_one(&earlier, container);
		uint32_t site = reading->container_sites[i];

		/*
		 * A block that is too young for the report has no site yet: use the container's
		 * earlier site.
		 */
		container->site = site < watch->site_cnt ? watch->site_ids[site] : before->site;
		container->adder = before->adder;
	}
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

/* Sets pinned_bytes of the snapshot's sites from the latest reading. */
static void set_pinned(const struct rss_watch *watch, struct snapshot *snap)
{
	for (size_t i = 0; i < watch->pinner_cnt; i++)
		for (size_t j = 0; j < snap->site_cnt; j++)
			if (snap->sites[j].id == watch->pinners[i].id)
				snap->sites[j].pinned_bytes = watch->pinners[i].bytes;
}

static void keep_reading(struct rss_watch *watch, const struct rss_reading *reading,
			 struct rss *ret)
{
	*ret = reading->rss;
	keep_python(watch, reading);
	keep_pinners(watch, &reading->pinners);
	if (watch->from_start) {
		memset(ret->older, 0, sizeof(ret->older));
		ret->pinned_by_older = 0;
	}
}

/*
 * Receives the result for the process that is being read, or an error. Returns false if neither
 * arrives before the deadline.
 */
static bool take(struct rss_watch *watch, uint64_t deadline_ns)
{
	struct rss_result *result = result_of(watch, watch->asked_image);
	struct rss_reading reading;
	int err = rss_take(deadline_ns, &reading);
	uint64_t taken_ns;

	watch->seen_ns = clock_ns(CLOCK_MONOTONIC);
	taken_ns = watch->seen_ns - watch->asked_ns;
	if (err == -ETIMEDOUT && taken_ns < GIVE_UP_NS)
		return false;
	if (err == -ETIMEDOUT)
		rss_stop();
	watch->asked = 0;
	watch->avoids_copies |= err == -ESRCH && watch->asked_copy;
	watch->spent_ns += taken_ns;
	watch->has_failed |= err != 0;
	if (!result)
		return true;
	result->is_done = true;
	result->is_given_up = err == -ETIMEDOUT;
	if (err)
		watch->python = (struct python_growth){.class_cnt = 0};
	else
		keep_reading(watch, &reading, &result->rss);
	return true;
}

/*
 * Returns the earliest time at which the next round may start; UINT64_MAX if no process can be read
 * any more.
 */
static uint64_t next_round_ns(const struct rss_watch *watch)
{
	uint64_t pause_ns = PAUSE_FACTOR * watch->spent_ns;
	bool any = false;

	for (size_t i = 0; i < watch->result_cnt; i++)
		any |= !watch->results[i].is_given_up;
	if (!any)
		return UINT64_MAX;
	if (watch->has_failed && pause_ns < RETRY_NS)
		pause_ns = RETRY_NS;
	return clock_ns(CLOCK_MONOTONIC) + pause_ns;
}

/*
 * If the round is complete, or no snapshot follows, adds the results of the round to the snapshot's
 * processes.
 */
static void end_round(struct rss_watch *watch, const struct living *living)
{
	bool is_complete = true;

	for (size_t i = 0; i < watch->result_cnt; i++)
		is_complete &= watch->results[i].is_done;
	if (!watch->is_in_round || (!is_complete && !watch->is_last))
		return;
	for (size_t i = 0; i < living->cnt; i++)
		living->items[i]->rss = result_of(watch, living->items[i]->process->image)->rss;
	if (is_complete) {
		watch->is_in_round = false;
		watch->next_ns = next_round_ns(watch);
	}
}

uint64_t rss_watch_finish(struct rss_watch *watch, struct snapshot *snap, uint64_t wait_ns)
{
	const struct living living = list_living(snap);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), end_ns = begin_ns + wait_ns;

	if (!living.cnt)
		return 0;
	while (watch->asked && take(watch, end_ns))
		ask_next(watch, &living, NULL);
	end_round(watch, &living);
	set_pinned(watch, snap);
	if (living.cnt == 1 && watch->python_image == living.items[0]->process->image &&
	    (watch->python.class_cnt || watch->python.container_cnt || watch->python.uncounted))
		snap->python = arena_copy(&snap->arena, &watch->python, sizeof(watch->python));
	return clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

void rss_watch_deinit(struct rss_watch *watch)
{
	forget_sites(watch);
}
