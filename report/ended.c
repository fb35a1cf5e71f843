// SPDX-License-Identifier: GPL-2.0-or-later
/* Removes the sites of processes that have ended, and adds up their memory. */
#include "report/ended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash_map.h"

/* Counts the ended processes. Adds the numbers of their process images to `ret` as keys. */
static int find_ended(const struct snapshot *snap, struct hash_map *ret, struct ended *sum)
{
	int err = 0;

	for (size_t i = 0; !err && i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];

		if (!tally->ended)
			continue;
		err = hash_map_set(ret, tally->process->image, (void *)tally);
		sum->processes++;
	}
	return err;
}

int ended_leave_out(struct snapshot_view *view)
{
	const struct snapshot *snap = &view->snap;
	cleanup_free bool *left_out = calloc(snap->site_cnt + 1, sizeof(*left_out));
	struct hash_map images = {0};
	struct ended sum = {0};
	int err = left_out ? find_ended(snap, &images, &sum) : -ENOMEM;

	for (size_t i = 0; !err && sum.processes && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (!site->process || !hash_map_get(&images, site->process->image))
			continue;
		left_out[i] = true;
		sum.bytes += site->bytes;
		sum.count += site->count;
	}
	hash_map_deinit(&images);
	if (!err && sum.count)
		err = snapshot_view_leave_out(view, left_out);
	view->snap.ended = sum;
	return err;
}

static bool is_before(const struct ended_process *a, const struct ended_process *b)
{
	return a->out_of_memory == b->out_of_memory ? a->bytes >= b->bytes : a->out_of_memory;
}

/* Inserts a process into list->named, of which a full list drops the last. Takes ownership of the
 * name. */
static void name_process(struct ended_processes *list, struct ended_process *process)
{
	size_t at = list->named_cnt;

	while (at && !is_before(&list->named[at - 1], process))
		at--;
	if (at == ENDED_NAMED) {
		free(process->comm);
		return;
	}
	if (list->named_cnt == ENDED_NAMED)
		free(list->named[--list->named_cnt].comm);
	memmove(&list->named[at + 1], &list->named[at],
		(list->named_cnt - at) * sizeof(*list->named));
	list->named[at] = *process;
	list->named_cnt++;
}

static int add_process(struct ended_processes *list, const struct process_tally *tally,
		       const struct ended *held)
{
	const struct process *process = tally->process;
	struct ended_process ended = {
		.pid = process->pid,
		.bytes = held->bytes,
		.count = held->count,
		.killed_by = tally->killed_by,
		.out_of_memory = tally->out_of_memory,
	};

	if (process->comm && !(ended.comm = strdup(process->comm)))
		return -ENOMEM;
	name_process(list, &ended);
	list->total++;
	list->bytes += held->bytes;
	return 0;
}

/*
 * Adds up the memory of processes that have ended: of those that are still reported (`ended_here`),
 * as the report shows it; otherwise of those for which memory ran out. sums[i] belongs to
 * snap->tallies[i].
 */
static int sum_sites(const struct snapshot *snap, bool ended_here, struct ended *sums)
{
	struct hash_map images = {0};
	int err = 0;

	for (size_t i = 0; !err && i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];

		if (ended_here ? tally->ended_here : tally->ended && tally->out_of_memory)
			err = hash_map_set(&images, tally->process->image, &sums[i]);
	}
	for (size_t i = 0; !err && images.cnt && i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];
		struct ended *sum =
			site->process ? hash_map_get(&images, site->process->image) : NULL;

		if (!sum || !site_is_memory(site))
			continue;
		sum->bytes += site->bytes - site->inherited_bytes;
		sum->count += site->count - site->inherited_count;
	}
	hash_map_deinit(&images);
	return err;
}

int ended_processes_add(struct ended_processes *list, const struct snapshot *snap,
			const struct snapshot *view)
{
	cleanup_free struct ended *sums = calloc(snap->tally_cnt + 1, sizeof(*sums));
	int err = sums ? sum_sites(view, true, sums) : -ENOMEM;

	if (!err)
		err = sum_sites(snap, false, sums);
	for (size_t i = 0; !err && i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];

		if (sums[i].count || (tally->out_of_memory && (tally->ended || tally->ended_here)))
			err = add_process(list, tally, &sums[i]);
	}
	return err;
}

void ended_processes_deinit(struct ended_processes *list)
{
	for (size_t i = 0; i < list->named_cnt; i++)
		free(list->named[i].comm);
	*list = (struct ended_processes){0};
}
