// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up sites by the return addresses on their stacks. */
#include "report/callers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "report/site_order.h"

/*
 * Maximum number of frames of a stack that are searched for calls: deeper stacks are recursions,
 * which repeat a few calls.
 */
#define MOST_FRAMES 64

/*
 * Fraction of the time since tracing began that counts as the later part of tracing, over which
 * gains are compared. Must equal LATER_PART in trend.c.
 */
#define LATER_PART 0.6

static uint64_t id_of(const struct site *site, uint64_t frame)
{
	uint64_t id = hash_word(hash_word(frame, site->process->image), (uint64_t)site->tid);

	return id ?: 1;
}

/* Returns 1 + index of the sum for a call; 0 if out of memory. */
static uint32_t sum_of(struct callers *callers, struct hash_map *by_id, const struct site *site,
		       uint64_t frame)
{
	uint64_t id = id_of(site, frame);
	uintptr_t number = (uintptr_t)hash_map_get(by_id, id);

	if (number)
		return (uint32_t)number;
	if (array_reserve(&callers->items, &callers->cap, callers->cnt + 1) ||
	    hash_map_set(by_id, id, (void *)(callers->cnt + 1)))
		return 0;
	callers->items[callers->cnt++] = (struct caller){.site = site, .frame = frame};
	return (uint32_t)callers->cnt;
}

static bool has(const uint32_t *calls, size_t cnt, uint32_t number)
{
	for (size_t i = 0; i < cnt; i++)
		if (calls[i] == number)
			return true;
	return false;
}

static int add(struct callers *callers, struct hash_map *by_id, const struct site *site,
	       uint32_t *calls)
{
	size_t cnt = 0;

	for (size_t i = 0; i < site->frame_cnt && i < MOST_FRAMES && cnt < CALLER_CALLS; i++) {
		uint32_t number = sum_of(callers, by_id, site, site->frames[i]);

		if (!number)
			return -ENOMEM;
		if (has(calls, cnt, number))
			continue;
		calls[cnt++] = number;
		callers->items[number - 1].site_cnt++;
	}
	return 0;
}

/* Fills site_of with the sites of each sum. */
static int list_sites(struct callers *callers)
{
	uint32_t total = 0;

	for (size_t i = 0; i < callers->cnt; i++) {
		callers->items[i].end = total;
		total += callers->items[i].site_cnt;
	}
	callers->site_of = malloc((total + 1UL) * sizeof(*callers->site_of));
	if (!callers->site_of)
		return -ENOMEM;
	for (size_t i = 0; i < callers->snap->site_cnt; i++) {
		const uint32_t *calls = callers->calls + i * CALLER_CALLS;

		for (size_t j = 0; j < CALLER_CALLS && calls[j]; j++)
			callers->site_of[callers->items[calls[j] - 1].end++] = (uint32_t)i;
	}
	return 0;
}

int callers_init(const struct snapshot *snap, const bool *is_left_out, struct callers *ret)
{
	struct callers callers = {
		.snap = snap,
		.calls = calloc(snap->site_cnt + 1, CALLER_CALLS * sizeof(*callers.calls)),
	};
	struct hash_map by_id = {0};
	int err = callers.calls ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (site->space == SPACE_USER && site->process && site_is_memory(site) &&
		    !(is_left_out && is_left_out[i]))
			err = add(&callers, &by_id, site, callers.calls + i * CALLER_CALLS);
	}
	hash_map_deinit(&by_id);
	if (!err)
		err = list_sites(&callers);
	callers.growth = calloc(callers.cnt + 1, sizeof(*callers.growth));
	if (err || !callers.growth) {
		callers_deinit(&callers);
		return -ENOMEM;
	}
	*ret = callers;
	return 0;
}

void callers_deinit(struct callers *callers)
{
	free(callers->items);
	free(callers->site_of);
	free(callers->growth);
	free(callers->calls);
	*callers = (struct callers){0};
}

/* Adds a site to a sum. Adds only the fields that struct ranking uses. */
static void add_blocks(struct site *sum, const struct site *site)
{
	sum->bytes += site->bytes;
	sum->count += site->count;
	ages_join(&sum->ages, &site->ages);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		sum->kept[i] += site->kept[i];
}

static void make_sum(const void *arg, size_t i, struct site *ret)
{
	const struct callers *callers = arg;
	const struct caller *caller = &callers->items[i];
	const struct site *first = caller->site;

	*ret = (struct site){
		.id = id_of(first, caller->frame),
		.process = first->process,
		.tid = first->tid,
	};
	for (uint32_t at = caller->end - caller->site_cnt; at < caller->end; at++)
		add_blocks(ret, &callers->snap->sites[callers->site_of[at]]);
}

int callers_rank(struct callers *callers, struct ranking *ranking)
{
	return ranking__update_sums(ranking, callers->snap, make_sum, callers, callers->cnt,
				    callers->growth);
}

const uint32_t *callers_calls(const struct callers *callers, const struct site *site)
{
	const struct snapshot *snap = callers->snap;

	if (site < snap->sites || site >= snap->sites + snap->site_cnt)
		return NULL;
	return callers->calls + (size_t)(site - snap->sites) * CALLER_CALLS;
}

size_t callers_find(const struct callers *callers, const struct site *site, size_t frame)
{
	const uint32_t *calls = callers ? callers_calls(callers, site) : NULL;

	if (frame >= site->frame_cnt)
		return SIZE_MAX;
	for (size_t i = 0; calls && i < CALLER_CALLS && calls[i]; i++)
		if (callers->items[calls[i] - 1].frame == site->frames[frame])
			return calls[i] - 1;
	return SIZE_MAX;
}

bool callers_grow(const struct callers *callers, size_t sum)
{
	const struct site_history *history = callers->growth[sum].history;

	return history && trend_is_suspect(&history->trend);
}

double callers_gain(const struct callers *callers, size_t sum, const struct site_history *history)
{
	const struct trend *trend = &callers->growth[sum].history->trend;
	double now_ns = (double)callers->snap->elapsed_ns;

	return history_gain(history, trend->score.older_ns, (uint64_t)(now_ns * (1 - LATER_PART)));
}
