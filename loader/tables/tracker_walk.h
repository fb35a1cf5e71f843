/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of what a BPF object tracks: since when, and what is in them. */
#ifndef LOADER_TABLES_TRACKER_WALK_H
#define LOADER_TABLES_TRACKER_WALK_H

#include "loader/tables/block_walk.h"
#include "loader/tables/tracker.h"

/* Tracing begins: elapsed times count from here. */
void tracker_start(struct tracker *tracker);
/*
 * Leaves out of snapshots what was allocated before. An earlier baseline than the present one
 * changes nothing. Returns the elapsed time at baseline_ns.
 */
uint64_t tracker_set_baseline(struct tracker *tracker, uint64_t baseline_ns);

/*
 * Pictures of the processes' memory are about to be taken: the blocks of snapshots that are made
 * until these are forgotten say whether they have moved since.
 */
void tracker_expect_pictures(struct tracker *tracker);
void tracker_forget_pictures(struct tracker *tracker);

/* A snapshot being made. */
struct tracker_walk {
	struct tracker *tracker;
	struct block_walk blocks;
};

/* Begins a snapshot of what there was at t0_ns, now or just before: reads the kernel's tables. */
int tracker_walk_begin(struct tracker *tracker, uint64_t t0_ns, struct tracker_walk *walk,
		       struct snapshot *snap);
/* A block that the source knows itself, such as a mapping. */
int tracker_walk_add(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
		     const struct block *block, uint64_t birth_ns);
/* The same for a block that the image has of an ancestor, whose site it is. */
int tracker_walk_inherit(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
			 const struct block *block, uint64_t birth_ns);
/*
 * Ends the snapshot, which then owns what it points to: err is what happened since it began. On
 * failure both are left empty.
 */
int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap);

/* The last snapshot was reported: makes room for stacks. 0 or a negative errno. */
int tracker_reported(struct tracker *tracker);

#endif
