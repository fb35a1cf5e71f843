/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forked children have of their ancestors: worked out from when each was forked, and from when
 * blocks were allocated and freed. Pure data: knows no tables and no processes. Times are
 * CLOCK_MONOTONIC nanoseconds.
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
	bool matters; /* the child lives, or a descendant of it that has some of its blocks */
};

/* A block of an image that has descendants. */
struct inherited_block {
	uint32_t image;
	pid_t tid;
	uint64_t addr;
	uint64_t size;
	uint64_t site;
	uint64_t birth_ns;
	uint64_t freed_ns; /* by the image itself; NEVER_NS: it still has the block */
};

/* An image has freed its copy of a block, or what it would have had there. */
struct freed_in_child {
	uint32_t image;
	uint64_t addr;
	uint64_t freed_ns;
};

struct inheritance {
	struct fork *forks; /* by parent, then time */
	size_t fork_cnt;
	size_t fork_cap;
	struct image_set ancestors;   /* images that have living descendants */
	struct image_set descendants; /* images of forks that matter */

	/* of the walk in progress */
	struct inherited_block *blocks;
	size_t block_cnt;
	size_t block_cap;
	struct freed_in_child *freed_in_child;
	size_t freed_in_child_cnt;
	size_t freed_in_child_cap;
};

typedef bool living_fn(void *arg, uint32_t image);
/* Called for each block that a descendant has. 0, or an error that ends the walk. */
typedef int give_fn(void *arg, uint32_t descendant, const struct inherited_block *block);

void inheritance_deinit(struct inheritance *inheritance);

/* Functions that return int return 0 or -ENOMEM. */

/* An image was forked. */
int inheritance_fork(struct inheritance *inheritance, uint32_t parent, uint32_t child,
		     uint64_t forked_ns);

/* Finds out who has descendants, and forgets forks that matter no more. */
int inheritance_update(struct inheritance *inheritance, living_fn *living, void *arg);

bool inheritance_is_ancestor(const struct inheritance *inheritance, uint32_t image);

bool inheritance_is_descendant(const struct inheritance *inheritance, uint32_t image);

/* Whether a child was forked while the image had a block. */
bool inheritance_is_shared(const struct inheritance *inheritance, uint32_t image, uint64_t birth_ns,
			   uint64_t freed_ns);

/*
 * A walk: first the blocks that images have, then those that they have freed, then what was freed
 * in children.
 */
void inheritance_begin(struct inheritance *inheritance);
int inheritance_add(struct inheritance *inheritance, const struct inherited_block *block);
int inheritance_free_in_child(struct inheritance *inheritance,
			      const struct freed_in_child *freed_in_child);

/* Ends the walk. A block that was freed meanwhile may have been added twice. */
int inheritance_share(struct inheritance *inheritance, give_fn *give, void *arg);

#endif
