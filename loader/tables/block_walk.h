/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From blocks, one after another, to a snapshot: what each site has, and what is wanted of the
 * blocks themselves. It does not know where they come from, nor what stacks are.
 */
#ifndef LOADER_TABLES_BLOCK_WALK_H
#define LOADER_TABLES_BLOCK_WALK_H

#include "loader/tables/heap_list.h"
#include "loader/tables/site_table.h"
#include "options/options.h"
#include "report/snapshot.h"

/* What a source knows of an image. */
struct block_owner {
	const struct process *process; /* NULL: no one process */
	bool ended;
};

/* Whether the image is one of the source's; fills ret. */
typedef bool block_owner_fn(void *arg, uint32_t image, struct block_owner *ret);

/* What lasts from one snapshot to the next. */
struct block_walker {
	const struct options *opts;
	enum address_space space;
	block_owner_fn *owner;
	void *arg;
	struct site_table sites;
	bool blocks_have_pids;    /* and not the numbers of threads */
	struct sampling sampling; /* instead of what the options say; 0: they say it */
	uint64_t start_ns;
	uint64_t baseline_ns;     /* blocks that are older are left out; 0: none */
	uint64_t t0_ns;           /* of the last snapshot */
	uint64_t last_t0_ns;      /* of the last that was reported; 0: there was none */
	bool sums_left_out;       /* walks also add up what they leave out by its age */
	uint64_t heaps_before_ns; /* walks keep blocks of heaps born before then, for a proof; 0:
				     none */
	bool any_age;             /* walks take blocks whatever -o says, and keep none of them */
};

/* A snapshot being made. */
struct block_walk {
	struct block_walker *walker;
	uint64_t t0_ns;
	struct sampling sampling;
	struct block *blocks; /* with -a; site is the address of the entry until sorted out */
	size_t block_cnt;
	size_t block_cap;
	struct heap_list heaps; /* if a proof is wanted */
};

/* What the options say. */
struct sampling block_walk_sampling(const struct options *opts);

/* Begins a snapshot of what there was at t0_ns, now or just before. */
void block_walk_begin(struct block_walker *walker, uint64_t t0_ns, struct block_walk *walk,
		      struct snapshot *snap);
/* Those with a result return 0 or -ENOMEM. */
int block_walk_add(struct block_walk *walk, const struct block_owner *owner, uint64_t site,
		   const struct block *block, uint64_t birth_ns);
/* Whether anything would be done with a block that an image has of an ancestor. */
bool block_walk_takes(const struct block_walk *walk, const struct block_owner *owner,
		      uint64_t birth_ns);
/* Adds one: to a site of the image's own. */
int block_walk_inherit(struct block_walk *walk, const struct block_owner *owner,
		       struct site_entry *entry, const struct block *block, uint64_t birth_ns);
/* Fills in the sites, whose stacks are known by now. */
int block_walk_fill(struct block_walk *walk, struct snapshot *snap);
/*
 * Ends the snapshot, which then owns what it points to: err is what happened since it began. On
 * failure both are left empty.
 */
int block_walk_end(struct block_walk *walk, int err, struct snapshot *snap);

#endif
