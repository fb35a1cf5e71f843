/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view of a snapshot for one report, with its own arrays of sites and blocks if the report leaves
 * out or splits sites. All other data belongs to the snapshot, which stays unchanged and must
 * outlive the view.
 */
#ifndef REPORT_SNAPSHOT_VIEW_H
#define REPORT_SNAPSHOT_VIEW_H

#include "report/snapshot.h"

struct snapshot_view {
	struct snapshot snap;
	struct site *own_sites; /* NULL if the sites are the snapshot's */
	struct block *own_blocks;
};

struct snapshot_view snapshot_view_of(const struct snapshot *snap);
void snapshot_view_deinit(struct snapshot_view *view);

/* Sets an array of the view, which takes ownership and frees its previous array. */
void snapshot_view_set_sites(struct snapshot_view *view, struct site *sites, size_t cnt);
void snapshot_view_set_blocks(struct snapshot_view *view, struct block *blocks, size_t cnt);

/* Removes sites and their blocks; left_out has an entry for each site. Returns 0 or -ENOMEM. */
int snapshot_view_leave_out(struct snapshot_view *view, const bool *left_out);

#endif
