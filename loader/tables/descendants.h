/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/inheritance.h: freed blocks of which forked children may still have
 * copies. Used only with --follow and without -C.
 */
#ifndef LOADER_TABLES_DESCENDANTS_H
#define LOADER_TABLES_DESCENDANTS_H

#include <bpf/libbpf.h>

#include "loader/tables/inheritance.h"
#include "loader/tables/recent_blocks.h"

struct descendants {
	struct inheritance inheritance;
	uint64_t records_until_ns; /* all records written before this time were read */
	uint64_t lost;             /* number of forks dropped for lack of memory */
	uint64_t freed_cnt; /* number of entries in the table of freed blocks, as last read */
	int release_fd;     /* BPF program that releases an ended image */
	int freed_fd;
	int freed_in_child_fd;
};

/* Sets the sizes of the tables; called before load. on_demand: see tracker_prepare(). */
int descendants_prepare(struct bpf_object *object, uint32_t max_allocs, bool on_demand);
/* Call after load. Returns 0 or -ENOENT. */
int descendants_init(struct descendants *descendants, const struct bpf_object *object);
void descendants_deinit(struct descendants *descendants);

/*
 * Reads the freed blocks, and deletes the entries of blocks that no descendant can have. Call after
 * all outstanding blocks were added to `inheritance`. Returns 0 or a negative errno.
 */
int descendants_read(struct descendants *descendants, struct recent_blocks *recent);

/*
 * Releases ended images: the BPF programs stop recording frees of blocks that only they may have
 * inherited.
 */
void descendants_forget(struct descendants *descendants, const struct image_set *images);

#endif
