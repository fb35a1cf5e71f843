/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many blocks of the table each process has, and how many it was refused. */
#ifndef SHARES_H
#define SHARES_H

#include <bpf/libbpf.h>

#include "bpf/block_tables.h"

struct shares {
	struct memleak_share *items; /* in the programs' memory; NULL: there are none */
};

/* After load. 0 or a negative errno. */
int shares_init(struct shares *shares, const struct bpf_object *object);
void shares_deinit(struct shares *shares);

/* A new image: what others were refused in its place is forgotten. */
void shares_begin(struct shares *shares, uint32_t image);
/* A block of it has been deleted from the table. */
void shares_uncount(struct shares *shares, uint32_t image);
uint64_t shares_refused(const struct shares *shares, uint32_t image);

#endif
