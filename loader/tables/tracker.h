/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/track.bpf.h: the tables of a BPF object (blocks, sites, stacks,
 * counters). Sets the tables up before load, and reads them for snapshots. Only the source knows
 * which process a block belongs to.
 */
#ifndef LOADER_TABLES_TRACKER_H
#define LOADER_TABLES_TRACKER_H

#include <bpf/libbpf.h>

#include "loader/tables/block_tables.h"
#include "loader/tables/block_walk.h"
#include "loader/tables/descendants.h"
#include "loader/tables/quotas.h"
#include "loader/tables/recent_blocks.h"
#include "loader/tables/stack_table.h"
#include "loader/target/image_set.h"
#include "options/options.h"
#include "report/snapshot.h"

struct script_frames;

struct tracker {
	struct block_walker walker;
	struct bpf_object *object;
	/* Returns the number of innermost frames to hide. A NULL pointer hides none. */
	size_t (*skip_frames)(void *arg, const uint64_t *frames, size_t cnt);
	/*
	 * Resolves the frames of an unresolved stack. Returns false if some frames stay unresolved.
	 * The pointer is NULL if the stacks of this object are always resolved.
	 */
	bool (*resolve)(void *arg, uint32_t image, struct memleak_stack *stack);
	/*
	 * Puts the script frames of a stack between its native frames. *frames is from malloc().
	 * Returns 0 or -ENOMEM. The pointer is NULL if the stacks of this object have no script
	 * frames.
	 */
	int (*merge)(void *arg, uint32_t image, const struct memleak_stack *stack,
		     const struct script_frames *scripts, uint64_t **frames, size_t *cnt);
	/*
	 * True if a block was freed without an event and must be left out. The pointer is NULL if
	 * all blocks of this object are freed with an event.
	 */
	bool (*is_gone)(void *arg, const struct memleak_block_key *key,
			const struct memleak_block *block);
	struct descendants *descendants; /* inherited blocks; NULL if images inherit none */
	/*
	 * True if events that this BPF program misses are not counted as lost: it is the second of
	 * a pair (only misses of the first are counted), or the loader itself finds the missed
	 * changes.
	 */
	bool (*may_miss)(const struct bpf_program *prog);
	/* number of events that no BPF program handled, up to the last report */
	uint64_t recursion;
	int64_t missed_before; /* number of events missed before tracking began, during attaching */
	uint64_t page_offset;  /* offset to add to the addresses of kernel pages in reports */

	struct block_tables
		blocks; /* tables of blocks: one, unless the source calls block_tables_watch() */
	int sites_fd;
	int counters_fd;
	int summaries_fd;
	struct recent_blocks recent;
	/*
	 * describes the walk in progress to the BPF programs (shared memory); NULL if blocks are
	 * never reallocated
	 */
	volatile struct memleak_reading *reading;
	uint32_t reading_number; /* latest number given to a walk or to a set of pictures */
	/* number of the current pictures (copies of processes' memory); 0 if there are none */
	uint32_t picture_number;
	unsigned int coarsest_step; /* --max-overhead: highest sampling step so far */
	struct quotas quotas;
	struct stack_table stacks;
	uint64_t purged_bytes; /* total bytes of the blocks deleted because their image has ended */

	struct stats stats; /* statistics as of the last snapshot */
	uint64_t resolved;  /* times that the loader, not the BPF programs, resolved a stack */
};

/*
 * Fills in config, which is in the object's .rodata, and sets the sizes of the object's tables. If
 * on_demand is set, entries are allocated when needed; otherwise they are preallocated. Called
 * before load.
 */
int tracker_prepare(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		    bool on_demand, struct memleak_config *config);

/*
 * Initialises the tracker. Call after load, with `walker`, `object` and the function pointers set.
 * watch: see struct stack_table. Returns 0 or a negative errno.
 */
int tracker_init(struct tracker *tracker, uint32_t stack_depth,
		 volatile struct memleak_stack_watch *watch);
void tracker_deinit(struct tracker *tracker);

/*
 * Returns how many blocks an image has in the table; without quotas, the number of all blocks
 * there.
 */
uint64_t tracker_block_cnt(const struct tracker *tracker, uint32_t image);

/* Deletes the entries of ended images from all tables. */
void tracker_purge(struct tracker *tracker, const struct image_set *images);

#endif
