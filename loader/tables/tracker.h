/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/track.bpf.h: the tables of a BPF object (blocks, sites, stacks,
 * counters). Sets them up before load, and reads them for snapshots. Only the source knows the
 * process of a block.
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

struct tracker {
	struct block_walker walker;
	struct bpf_object *object;
	/* Returns the number of innermost frames to hide; NULL if none are hidden. */
	size_t (*skip_frames)(void *arg, const uint64_t *frames, size_t cnt);
	/*
	 * Resolves the frames of an unresolved stack. Returns false if some stay unresolved. NULL
	 * if stacks of this object are always resolved.
	 */
	bool (*resolve)(void *arg, uint32_t image, struct memleak_stack *stack);
	/*
	 * True if a block was freed without an event, and is left out; NULL if that does not
	 * happen.
	 */
	bool (*is_gone)(void *arg, const struct memleak_block_key *key,
			const struct memleak_block *block);
	struct descendants *descendants; /* NULL if images do not inherit blocks */
	/*
	 * True for a program that handles events that another missed, and counts them as rescued.
	 */
	bool (*is_second)(const struct bpf_program *prog);
	uint64_t recursion;    /* events that no program handled, as of the last report */
	int64_t missed_before; /* events missed before tracking began, while programs were being
				  attached */
	uint64_t page_offset;  /* offset added to addresses of pages in reports */

	struct block_tables
		blocks; /* a single table, unless the source calls block_tables_watch() */
	int sites_fd;
	int counters_fd;
	int summaries_fd;
	struct recent_blocks recent;
	volatile struct memleak_reading *reading; /* NULL if blocks are not reallocated */
	uint32_t reading_number; /* number of the last reading or set of pictures */
	uint32_t picture_number; /* number of the last set of pictures; 0 if there is none */
	struct quotas quotas;
	struct stack_table stacks;
	uint64_t purged_bytes; /* bytes of deleted blocks of ended images */

	struct stats stats; /* statistics as of the last snapshot */
	uint64_t resolved;  /* sites whose frames were resolved later */
};

/*
 * Fills config, which is in the object's .rodata, and sets the sizes of its tables. on_demand:
 * entries are allocated when needed, not preallocated. Called before load.
 */
int tracker_prepare(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		    bool on_demand, struct memleak_config *config);

/*
 * Initialises the tracker; called after load. The caller has set the fields above blocks. watch:
 * see struct stack_table.
 */
int tracker_init(struct tracker *tracker, uint32_t stack_depth,
		 volatile struct memleak_stack_watch *watch);
void tracker_deinit(struct tracker *tracker);

/* Returns the number of an image's blocks in the table, or of all blocks if there are no quotas. */
uint64_t tracker_held(const struct tracker *tracker, uint32_t image);

/* Deletes the entries of ended images from all tables. */
void tracker_purge(struct tracker *tracker, const struct image_set *images);

#endif
