/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/inheritance.h: the blocks that were freed, but that forked children may
 * still have copies of. With --follow alone, and not with -C.
 */
#ifndef LOADER_TABLES_DESCENDANTS_H
#define LOADER_TABLES_DESCENDANTS_H

#include <bpf/libbpf.h>

#include "loader/tables/inheritance.h"
#include "loader/tables/recent_blocks.h"

struct descendants {
	struct inheritance inheritance;
	uint64_t heard_ns; /* all records up to then have come */
	uint64_t lost;     /* forks that were not kept, as memory here was short */
	uint64_t left_cnt; /* blocks that are in the table of freed ones, as last read */
	int release_fd;    /* the program that lets go of an image */
	int left_fd;
	int freed_in_child_fd;
};

/* Sets the sizes of the tables, before load. on_demand: see tracker_prepare. */
int descendants_prepare(struct bpf_object *object, uint32_t max_allocs, bool on_demand);
/* After load. */
int descendants_init(struct descendants *descendants, const struct bpf_object *object);
void descendants_deinit(struct descendants *descendants);

/*
 * Reads which blocks were freed, once all outstanding ones have been added, and deletes what nobody
 * needs. 0 or a negative errno.
 */
int descendants_read(struct descendants *descendants, struct recent_blocks *recent);

/* Images are no more, and nobody has copies of their blocks. */
void descendants_forget(struct descendants *descendants, const struct image_set *images);

#endif
