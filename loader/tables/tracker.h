/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/track.bpf.h: the tables that every BPF object has (blocks, sites,
 * stacks, counters). They are set up before load, and read for snapshots. Which process a block
 * belongs to, its source knows.
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
	/* Returns how many frames at the inner end are not worth showing; NULL: none. */
	size_t (*skip_frames)(void *arg, const uint64_t *frames, size_t cnt);
	/*
	 * Finds out what the frames of an unresolved stack were. False: not of all. NULL: stacks of
	 * this object are never unresolved.
	 */
	bool (*resolve)(void *arg, uint32_t image, struct memleak_stack *stack);
	/* True for a block that was freed unseen, which is left out; NULL: there are none. */
	bool (*is_gone)(void *arg, const struct memleak_block_key *key,
			const struct memleak_block *block);
	struct descendants *descendants; /* NULL: no image has blocks of another */
	/* Programs that handle what others have missed, and count that as rescued. */
	bool (*is_second)(const struct bpf_program *prog);
	uint64_t recursion;    /* events that no program handled, as last reported */
	int64_t missed_before; /* such events before tracking began, while programs were being
				  attached */
	uint64_t page_offset;  /* added to the addresses of pages in reports */

	struct block_tables blocks; /* with one table, unless the source watches it */
	int sites_fd;
	int counters_fd;
	int summaries_fd;
	struct recent_blocks recent;
	volatile struct memleak_reading *reading; /* NULL: blocks are not reallocated */
	uint32_t reading_number;                  /* of the last one, or of pictures */
	uint32_t picture_number;                  /* 0: none were taken */
	struct quotas quotas;
	struct stack_table stacks;
	uint64_t purged_bytes; /* bytes of blocks of images that are no more */

	struct stats stats; /* as of the last snapshot */
	uint64_t resolved;  /* sites whose frames were found out later */
};

/*
 * Fills config, which is in the object's .rodata, and sets the sizes of its tables. on_demand:
 * entries are allocated as they are needed. Before load.
 */
int tracker_prepare(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		    bool on_demand, struct memleak_config *config);

/* After load. The caller has set the fields above blocks. watch: see struct stack_table. */
int tracker_init(struct tracker *tracker, uint32_t stack_depth,
		 volatile struct memleak_stack_watch *watch);
void tracker_deinit(struct tracker *tracker);

/* How many blocks the table has of an image; of all of them, if it has no quotas. */
uint64_t tracker_held(const struct tracker *tracker, uint32_t image);

/* Deletes what the tables hold of images that are no more. */
void tracker_purge(struct tracker *tracker, const struct image_set *images);

#endif
