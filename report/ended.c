// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up the sites of processes that have ended. */
#include "report/ended.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash_map.h"

/* The images of ended processes; each stands for itself. */
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
