/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-process quotas of the block table: how many blocks each process has, and how many it was
 * refused.
 */
#ifndef LOADER_TABLES_QUOTAS_H
#define LOADER_TABLES_QUOTAS_H

#include <bpf/libbpf.h>

#include "bpf/block_tables.h"

struct quotas {
	struct memleak_quota *items; /* in the programs' memory; NULL: there are none */
};

/* After load. 0 or a negative errno. */
int quotas_init(struct quotas *quotas, const struct bpf_object *object);
void quotas_deinit(struct quotas *quotas);

/* A new image: what another one of the same quota was refused is forgotten. */
void quotas_begin(struct quotas *quotas, uint32_t image);
/* A block of the image has been deleted from the table. */
void quotas_uncount(struct quotas *quotas, uint32_t image);
/* With quotas: how many blocks the table has of an image. */
uint64_t quotas_held(const struct quotas *quotas, uint32_t image);
uint64_t quotas_refused(const struct quotas *quotas, uint32_t image);

#endif
