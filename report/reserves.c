// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up and removes the sites of reserved address space. */
#include "report/reserves.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int reserves_leave_out(struct snapshot_view *view)
{
	const struct snapshot *snap = &view->snap;
	cleanup_free bool *left_out = calloc(snap->site_cnt + 1, sizeof(*left_out));
	struct reserved sum = {0};

	if (!left_out)
		return -ENOMEM;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (site->kind != KIND_RESERVE)
			continue;
		left_out[i] = true;
		sum.bytes += site->bytes;
		sum.count += site->count;
		sum.sites++;
	}
	view->snap.reserved = sum;
	return sum.sites ? snapshot_view_leave_out(view, left_out) : 0;
}
