/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot as one report looks at it. What a report leaves out or splits is in arrays of the
 * view's own; all else is the snapshot's that the view is of, which stays as the source made it and
 * must outlive the view.
 */
#ifndef REPORT_SNAPSHOT_VIEW_H
#define REPORT_SNAPSHOT_VIEW_H

#include "report/snapshot.h"

struct snapshot_view {
	struct snapshot snap;
	struct site *own_sites; /* NULL: the sites are the snapshot's */
	struct block *own_blocks;
};

struct snapshot_view snapshot_view_of(const struct snapshot *snap);
void snapshot_view_deinit(struct snapshot_view *view);

/* Both take the array over and free an own one before it. */
void snapshot_view_set_sites(struct snapshot_view *view, struct site *sites, size_t cnt);
void snapshot_view_set_blocks(struct snapshot_view *view, struct block *blocks, size_t cnt);

/* Leaves sites out, with their blocks; left_out has an entry for each site. -ENOMEM. */
int snapshot_view_leave_out(struct snapshot_view *view, const bool *left_out);

#endif
