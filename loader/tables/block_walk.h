/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns a sequence of blocks into a snapshot: sums for each site, and the blocks themselves if
 * needed. Does not know where blocks come from, or what stacks are.
 */
#ifndef LOADER_TABLES_BLOCK_WALK_H
#define LOADER_TABLES_BLOCK_WALK_H

#include "loader/tables/heap_list.h"
#include "loader/tables/site_table.h"
#include "options/options.h"
#include "report/snapshot.h"

/* The process to which an image belongs. */
struct block_owner {
	const struct process *process; /* the process; NULL if the owner is not a single process */
	bool ended;
	/*
	 * Points to the size of the process's largest heap block younger than --older, in bytes.
	 * NULL for blocks that are not on the heap.
	 */
	uint64_t *too_young;
};

/*
 * Fills in ret. Returns false if the source does not trace the image; its blocks are then left out.
 */
typedef bool block_owner_fn(void *arg, uint32_t image, struct block_owner *ret);

/* State that is kept between snapshots. */
struct block_walker {
	const struct options *opts;
	enum address_space space;
	block_owner_fn *owner;
	void *arg;
	struct site_table sites;
	bool blocks_have_pids; /* true if the field `tid` of a block is a pid */
	/* Sampling that replaces the sampling in opts; mode is 0 if opts apply. */
	struct sampling sampling;
	uint64_t start_ns;
	uint64_t baseline_ns; /* older blocks are left out; 0 if there is no baseline */
	uint64_t t0_ns;       /* time of the last snapshot */
	uint64_t last_t0_ns;  /* t0_ns at the last block_walker_reported(); 0 if there was none */
	/* times of earlier snapshots, if blocks are counted by time of allocation */
	struct moments earlier;
	bool sums_left_out; /* true to also sum up blocks left out because of their age */
	/* if not 0, keep heap blocks for a proof, which judges blocks allocated before this time */
	uint64_t heaps_before_ns;
	uint64_t read_until_ns; /* as in struct read_request */
	bool any_age; /* true to count blocks of any age regardless of -o, without listing blocks */
};

/* A snapshot being made. */
struct block_walk {
	struct block_walker *walker;
	uint64_t t0_ns;
	struct sampling sampling;
	/*
	 * blocks to list (only with -a or --by thread). Until block_walk_end(), their field `site`
	 * is the address of a struct site_entry
	 */
	struct block *blocks;
	size_t block_cnt;
	size_t block_cap;
	struct heap_list heaps; /* heap blocks for a proof */
	uint64_t checked_cnt;   /* blocks for which block_walk_skips() was called */
	bool is_late;           /* true if the walk must not read any more blocks */
	uint64_t unread;        /* blocks that were skipped */
};

/* Returns the sampling of the run by its options; no sampling with --max-overhead, which varies it.
 */
struct sampling block_walk_sampling(const struct options *opts);

/* Begins a snapshot of the time t0_ns, which is now or shortly before. */
void block_walk_begin(struct block_walker *walker, uint64_t t0_ns, struct block_walk *walk,
		      struct snapshot *snap);
/* True if a walk over blocks must end now, because of read_until_ns or a termination signal. */
bool block_walker_stops(const struct block_walker *walker);
/*
 * Call before adding a block. Returns 0 if there is time to add it. Otherwise, counts it as unread
 * and returns 1; or returns -EINTR if a termination signal cancels the snapshot.
 */
int block_walk_skips(struct block_walk *walk);
/* Adds a block to its site, unless the report leaves the block out. Returns 0 or -ENOMEM. */
int block_walk_add(struct block_walk *walk, const struct block_owner *owner, uint64_t site,
		   const struct block *block, uint64_t birth_ns);
/*
 * Call after a report. snap: the reported snapshot, or the snapshot of user and kernel memory into
 * which it was merged.
 */
void block_walker_reported(struct block_walker *walker, const struct snapshot *snap);
/*
 * True if block_walk_inherit() would count a block with this owner and birth time, or keep it for a
 * proof.
 */
bool block_walk_takes(const struct block_walk *walk, const struct block_owner *owner,
		      uint64_t birth_ns);
/* Adds an inherited block. entry: its site in the image that inherits it. Returns 0 or -ENOMEM. */
int block_walk_inherit(struct block_walk *walk, const struct block_owner *owner,
		       struct site_entry *entry, const struct block *block, uint64_t birth_ns);
/*
 * Fills in the sites of the snapshot. The stacks of these sites must be loaded. Returns 0 or
 * -ENOMEM.
 */
int block_walk_fill(struct block_walk *walk, struct snapshot *snap);
/*
 * Ends a snapshot, which then owns all that it points to. err: the first error so far, or 0.
 * Returns 0, this error or -ENOMEM; on failure, walk and snapshot are emptied.
 */
int block_walk_end(struct block_walk *walk, int err, struct snapshot *snap);

#endif
