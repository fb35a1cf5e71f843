/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/inheritance.h: what the programs keep of blocks that were freed, for
 * children that were forked before. With --follow alone, and not with -C.
 */
#ifndef HEIRS_H
#define HEIRS_H

#include <bpf/libbpf.h>

#include "loader/inheritance.h"
#include "loader/young_blocks.h"

struct heirs {
	struct inheritance inheritance;
	uint64_t heard_ns; /* of all forks up to then it was heard */
	uint64_t lost;     /* forks, for want of memory here */
	uint64_t left_cnt; /* blocks that were freed and kept, as last read */
	int estates_fd;
	int left_fd;
	int disowned_fd;
};

/* Sets the sizes of the tables, before load. on_demand: see tracker_prepare. */
int heirs_prepare(struct bpf_object *object, uint32_t max_allocs, bool on_demand);
/* After load. */
int heirs_init(struct heirs *heirs, const struct bpf_object *object);
void heirs_deinit(struct heirs *heirs);

/*
 * Reads what was freed, once all blocks that are there have been added, and drops what nobody
 * needs. 0 or a negative errno.
 */
int heirs_read(struct heirs *heirs, struct young_blocks *young);

/* Images are no more, nor is anybody who has something of them. */
void heirs_forget(struct heirs *heirs, const struct image_set *images);

#endif
