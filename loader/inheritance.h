/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forked children have of their parents: worked out from when each was forked, and from when
 * blocks were allocated and freed. Pure data: knows no tables and no processes.
 * Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef INHERITANCE_H
#define INHERITANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader/image_set.h"

#define NEVER_NS UINT64_MAX

struct fork {
	uint32_t parent;
	uint32_t child;
	uint64_t forked_ns;
	bool matters; /* the child is there, or somebody who has something of it */
};

/* A block of an image that has heirs. */
struct heirloom {
	uint32_t image;
	pid_t tid;
	uint64_t addr;
	uint64_t size;
	uint64_t site;
	uint64_t birth_ns;
	uint64_t freed_ns; /* by the image itself; NEVER_NS: it has it */
};

/* What an image has freed of what it had of its parent, or would have. */
struct disowned {
	uint32_t image;
	uint64_t addr;
	uint64_t freed_ns;
};

struct inheritance {
	struct fork *forks; /* by parent, then time */
	size_t fork_cnt;
	size_t fork_cap;
	struct image_set forebears; /* images whose heirs are there */
	struct image_set heirs;     /* images of forks that matter */

	/* of a walk */
	struct heirloom *blocks;
	size_t block_cnt;
	size_t block_cap;
	struct disowned *disowned;
	size_t disowned_cnt;
	size_t disowned_cap;
};

typedef bool living_fn(void *arg, uint32_t image);
/* Called for each block that an heir has. 0, or what ends it all. */
typedef int give_fn(void *arg, uint32_t heir, const struct heirloom *block);

void inheritance_deinit(struct inheritance *inheritance);

/* Those with a result return 0 or -ENOMEM. */

/* An image was forked. */
int inheritance_fork(struct inheritance *inheritance, uint32_t parent, uint32_t child,
		     uint64_t forked_ns);

/* Finds out who has heirs, and forgets forks that matter no more. */
int inheritance_update(struct inheritance *inheritance, living_fn *living, void *arg);

bool inheritance_is_forebear(const struct inheritance *inheritance, uint32_t image);

bool inheritance_is_heir(const struct inheritance *inheritance, uint32_t image);

/* Whether a child was forked while the image had a block. */
bool inheritance_is_shared(const struct inheritance *inheritance, uint32_t image, uint64_t birth_ns,
			   uint64_t freed_ns);

/* A walk: first the blocks that images have, then those that they had, then what was disowned. */
void inheritance_begin(struct inheritance *inheritance);
int inheritance_add(struct inheritance *inheritance, const struct heirloom *block);
int inheritance_disown(struct inheritance *inheritance, const struct disowned *disowned);

/* Its end. A block that was freed meanwhile may have been added twice. */
int inheritance_share(struct inheritance *inheritance, give_fn *give, void *arg);

#endif
