/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines from the times of forks, allocations and frees which blocks forked children have from
 * their ancestors. Works only on data: knows no tables and no processes. Times are CLOCK_MONOTONIC
 * nanoseconds.
 */
#ifndef LOADER_TABLES_INHERITANCE_H
#define LOADER_TABLES_INHERITANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader/target/image_set.h"

#define NEVER_NS UINT64_MAX

struct fork {
	uint32_t parent;
	uint32_t child;
	uint64_t forked_ns;
	bool matters; /* the child or one of its descendants is alive */
};

/* A block of an image that has descendants. */
struct inherited_block {
	uint32_t image;
	pid_t tid;
	uint64_t addr;
	uint64_t size;
	uint64_t site;
	uint64_t birth_ns;
	uint64_t freed_ns; /* time when the image freed the block; NEVER_NS if not freed */
};

/* The time when a forked image freed its copy of a block at an address. */
struct freed_in_child {
	uint32_t image;
	uint64_t addr;
	uint64_t freed_ns;
};

struct inheritance {
	struct fork *forks; /* forks, sorted by parent, then by time */
	size_t fork_cnt;
	size_t fork_cap;
	struct image_set ancestors;   /* images that have living descendants */
	struct image_set descendants; /* children of the forks in which `matters` is set */

	/* blocks of the walk in progress */
	struct inherited_block *blocks;
	size_t block_cnt;
	size_t block_cap;
	struct freed_in_child *freed_in_child;
	size_t freed_in_child_cnt;
	size_t freed_in_child_cap;
};

typedef bool living_fn(void *arg, uint32_t image);
/*
 * Called for each block that a descendant has inherited. Returns 0, or an error that ends the walk.
 */
typedef int share_fn(void *arg, uint32_t descendant, const struct inherited_block *block);

void inheritance_deinit(struct inheritance *inheritance);

/*
 * All functions that return an int return 0 or -ENOMEM; inheritance_share() also returns errors of
 * share().
 */

/* Records a fork. */
int inheritance_fork(struct inheritance *inheritance, uint32_t parent, uint32_t child,
		     uint64_t forked_ns);

/*
 * Finds the images with living descendants, and drops forks whose child and its descendants have
 * all ended.
 */
int inheritance_update(struct inheritance *inheritance, living_fn *living, void *arg);

bool inheritance_is_ancestor(const struct inheritance *inheritance, uint32_t image);

bool inheritance_is_descendant(const struct inheritance *inheritance, uint32_t image);

/* True if a child was forked while the image had the block. */
bool inheritance_is_shared(const struct inheritance *inheritance, uint32_t image, uint64_t birth_ns,
			   uint64_t freed_ns);

/*
 * Begins a walk. The caller then adds, in this order: the outstanding blocks of images, the blocks
 * that images have freed, and the frees in children.
 */
void inheritance_begin(struct inheritance *inheritance);
int inheritance_add(struct inheritance *inheritance, const struct inherited_block *block);
int inheritance_free_in_child(struct inheritance *inheritance,
			      const struct freed_in_child *freed_in_child);

/*
 * Ends the walk, and passes each block to the descendants that have it. A block that is freed
 * during the walk may be added twice: as outstanding and as freed.
 */
int inheritance_share(struct inheritance *inheritance, share_fn *share, void *arg);

#endif
