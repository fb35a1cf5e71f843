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

/*
 * Inserts a process into list->named. A full list keeps the processes that held most memory. Takes
 * ownership of the name.
 */
static void name_process(struct ended_processes *list, struct ended_process *process)
{
	size_t at = list->named_cnt;

	while (at && list->named[at - 1].bytes < process->bytes)
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

static int add_process(struct ended_processes *list, const struct process *process,
		       const struct ended *held)
{
	struct ended_process ended = {process->pid, NULL, held->bytes, held->count};

	if (!held->count)
		return 0;
	if (process->comm && !(ended.comm = strdup(process->comm)))
		return -ENOMEM;
	name_process(list, &ended);
	list->total++;
	list->bytes += held->bytes;
	return 0;
}

/*
 * For each process that ended and is still reported (`ended_here`), adds up the memory: sums[i]
 * belongs to snap->tallies[i].
 */
static int sum_sites(const struct snapshot *snap, struct ended *sums)
{
	struct hash_map images = {0};
	int err = 0;

	for (size_t i = 0; !err && i < snap->tally_cnt; i++)
		if (snap->tallies[i].ended_here)
			err = hash_map_set(&images, snap->tallies[i].process->image, &sums[i]);
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

int ended_processes_add(struct ended_processes *list, const struct snapshot *snap)
{
	cleanup_free struct ended *sums = calloc(snap->tally_cnt + 1, sizeof(*sums));
	int err = sums ? sum_sites(snap, sums) : -ENOMEM;

	for (size_t i = 0; !err && i < snap->tally_cnt; i++)
		err = add_process(list, snap->tallies[i].process, &sums[i]);
	return err;
}

void ended_processes_deinit(struct ended_processes *list)
{
	for (size_t i = 0; i < list->named_cnt; i++)
		free(list->named[i].comm);
	*list = (struct ended_processes){0};
}
