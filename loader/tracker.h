/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/track.bpf.h: the tables that every BPF object has (blocks, sites,
 * stacks, counters), set up before load, and turned into snapshots. Which process a block belongs
 * to its source knows.
 */
#ifndef TRACKER_H
#define TRACKER_H

#include <bpf/libbpf.h>

#include "loader/heirs.h"
#include "loader/image_set.h"
#include "loader/options.h"
#include "loader/shares.h"
#include "loader/site_table.h"
#include "loader/stack_archive.h"
#include "loader/young_blocks.h"
#include "report/snapshot.h"

/* What a source knows of an image. */
struct tracker_owner {
	const struct process *process; /* NULL: no one process */
	bool ended;
};

/* Whether the image is one of the source's; fills ret. */
typedef bool tracker_owner_fn(void *arg, uint32_t image, struct tracker_owner *ret);

struct tracker {
	const struct options *opts;
	struct bpf_object *object;
	enum address_space space;
	tracker_owner_fn *owner;
	void *arg;
	/* Drops what is not worth showing from the inner end; NULL: nothing. */
	size_t (*skip_frames)(void *arg, const uint64_t *frames, size_t cnt);
	/*
	 * Finds out what the frames of an unsettled stack were; false: not of all. NULL: there are
	 * none such.
	 */
	bool (*settle)(void *arg, uint32_t image, struct memleak_stack *stack);
	struct heirs *heirs; /* NULL: nobody has something of another image */
	/* Programs that only handle what others missed; NULL: none. */
	bool (*is_second)(const struct bpf_program *prog);
	uint64_t recursion;    /* events that no program handled, as last told */
	int64_t missed_before; /* such before tracking began: while programs were being attached */
	uint64_t page_offset;  /* to add to the addresses of pages in the report */

	volatile struct memleak_stack_watch *watch; /* in the object's memory; NULL: not watched */

	int blocks_fd;
	int sites_fd;
	int stacks_fd;
	int counters_fd;
	int summaries_fd;
	uint32_t stack_depth;
	struct young_blocks young;
	struct shares shares;
	struct site_table sites;
	struct stack_archive archive;
	uint64_t start_ns;
	uint64_t baseline_ns;  /* blocks that are older are left out; 0: none */
	uint64_t last_t0_ns;   /* of the last snapshot; 0: there was none */
	bool any_age;          /* walks take blocks whatever -o says, and keep none of them */
	uint64_t purged_bytes; /* of blocks of images that are no more */

	struct figures figures; /* as of the last snapshot */
	uint64_t settled;       /* sites whose frames were found out later */
};

/*
 * Fills config, which is in the object's .rodata, and sets the sizes of its tables. on_demand:
 * entries are allocated as they are needed. Before load.
 */
int tracker_prepare(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		    bool on_demand, struct memleak_config *config);

/* After load. The caller has set the fields above blocks_fd. */
int tracker_init(struct tracker *tracker, uint32_t stack_depth);
void tracker_deinit(struct tracker *tracker);

/* Tracing begins: elapsed times count from here. */
void tracker_start(struct tracker *tracker);
/*
 * Leaves out of snapshots what was there before, or before a baseline that is later already.
 * Returns the elapsed time at baseline_ns.
 */
uint64_t tracker_set_baseline(struct tracker *tracker, uint64_t baseline_ns);

/* A snapshot being made. */
struct tracker_walk {
	struct tracker *tracker;
	uint64_t t0_ns;
	struct sampling sampling;
	struct block *blocks; /* with -a; site is the address of the entry until sorted out */
	size_t block_cnt;
	size_t block_cap;
};

/* Begins a snapshot: reads the clock and the blocks of the kernel tables. */
int tracker_walk_begin(struct tracker *tracker, struct tracker_walk *walk, struct snapshot *snap);
/* A block that the source knows itself, such as a mapping. */
int tracker_walk_add(struct tracker_walk *walk, const struct tracker_owner *owner, uint64_t site,
		     const struct block *block, uint64_t birth_ns);
/* The same of a block that the image has of a forebear, whose site it is. */
int tracker_walk_inherit(struct tracker_walk *walk, const struct tracker_owner *owner,
			 uint64_t site, const struct block *block, uint64_t birth_ns);
/* Ends it: err is what happened since it began. On failure both are left empty. */
int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap);

/* How often the kernel did not run a program because it ran already; 0 if it is not loaded. */
uint64_t program_recursion_misses(const struct bpf_program *prog);

/* Deletes what the tables hold of images that are no more. */
void tracker_purge(struct tracker *tracker, const struct image_set *images);

#endif
