/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes snapshots from the tables of a BPF object. A snapshot has the blocks that were allocated
 * since tracing began, or since a baseline.
 */
#ifndef LOADER_TABLES_TRACKER_WALK_H
#define LOADER_TABLES_TRACKER_WALK_H

#include "loader/tables/block_walk.h"
#include "loader/tables/moved_blocks.h"
#include "loader/tables/tracker.h"

/* Starts tracing: elapsed times are measured from now. */
void tracker_start(struct tracker *tracker);
/*
 * Moves the baseline to baseline_ns, unless the baseline is later already. Snapshots leave out
 * blocks allocated before the baseline. Returns the elapsed time at baseline_ns.
 */
uint64_t tracker_set_baseline(struct tracker *tracker, uint64_t baseline_ns);

/*
 * Begin and end a period in which pictures (copies of processes' memory) are taken. Snapshots made
 * in this period mark the blocks that realloc() has moved since the period began.
 */
void tracker_expect_pictures(struct tracker *tracker);
void tracker_forget_pictures(struct tracker *tracker);

/* A snapshot being made. */
struct tracker_walk {
	struct tracker *tracker;
	struct block_walk blocks;
	uint64_t table_cnt; /* number of blocks read from the block tables */
	uint64_t unread;    /* number of blocks that were not read in time */
	struct moved_blocks moved;
};

/*
 * Begins a snapshot of the time t0_ns, which is now or shortly before, and reads the blocks in the
 * kernel's tables. Returns 0 or a negative errno, such as -EINTR: see struct read_request.
 */
int tracker_walk_begin(struct tracker *tracker, uint64_t t0_ns, struct tracker_walk *walk,
		       struct snapshot *snap);
/* Adds a block that is not in the tables but that the source knows, such as a mapping. */
int tracker_walk_add(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
		     const struct block *block, uint64_t birth_ns);
/*
 * Adds a block that a process has inherited by fork(), and that the kernel tables do not list as a
 * block of this process, such as a mapping. site: site where the ancestor allocated the block.
 */
int tracker_walk_inherit(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
			 const struct block *block, uint64_t birth_ns);
/*
 * Ends a snapshot, which then owns all that it points to. err: the first error so far, or 0.
 * Returns 0 or a negative errno; on failure, walk and snapshot are emptied.
 */
int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap);

/*
 * Marks the last snapshot as reported, and evicts stacks if needed. snap: see
 * block_walker_reported(). Returns 0 or a negative errno.
 */
int tracker_reported(struct tracker *tracker, const struct snapshot *snap);

#endif
