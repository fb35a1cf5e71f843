/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of a snapshot for one report. If the report leaves out or splits sites, the view has its
 * own arrays of sites and blocks. All other data belongs to the suppressor or to the snapshot,
 * which does not change. Both must outlive the view.
 */
#ifndef REPORT_SNAPSHOT_VIEW_H
#define REPORT_SNAPSHOT_VIEW_H

#include "report/snapshot.h"

struct snapshot_view {
	struct snapshot snap;
	struct site *own_sites; /* NULL if the view uses the snapshot's sites */
	struct block *own_blocks;
	struct ages *own_births; /* the array that `births` of own_sites point into */
};

struct snapshot_view snapshot_view_of(const struct snapshot *snap);
void snapshot_view_deinit(struct snapshot_view *view);

/*
 * Replaces an array of the view. The view takes ownership of the new array, and frees its old
 * array.
 */
void snapshot_view_set_sites(struct snapshot_view *view, struct site *sites, size_t cnt);
void snapshot_view_set_blocks(struct snapshot_view *view, struct block *blocks, size_t cnt);
/*
 * Sets the array that the member `births` of the view's own sites points into. Does not change the
 * sites. The view takes ownership of the new array, and frees its old array.
 */
void snapshot_view_set_births(struct snapshot_view *view, struct ages *births);

/* Removes the sites i for which left_out[i] is true, and their blocks. Returns 0 or -ENOMEM. */
int snapshot_view_leave_out(struct snapshot_view *view, const bool *left_out);

#endif
