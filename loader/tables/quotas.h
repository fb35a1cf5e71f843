/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the per-process quotas of the block table: how many blocks each process has there, and how
 * many of its blocks were rejected.
 */
#ifndef LOADER_TABLES_QUOTAS_H
#define LOADER_TABLES_QUOTAS_H

#include <bpf/libbpf.h>

#include "bpf/block_tables.h"

struct quotas {
	struct memleak_quota
		*items; /* memory shared with the BPF programs; NULL if there are no quotas */
};

/* Maps the quotas into memory. Call after load. Returns 0 or a negative errno. */
int quotas_init(struct quotas *quotas, const struct bpf_object *object);
void quotas_deinit(struct quotas *quotas);

/*
 * Resets the count of rejected blocks for a new image: an image that has ended may have used the
 * same quota.
 */
void quotas_begin(struct quotas *quotas, uint32_t image);
/* Decrements the image's count of blocks. Called after a block was deleted from the table. */
void quotas_uncount(struct quotas *quotas, uint32_t image);
/* Returns how many blocks the image has in the table. Only called if there are quotas. */
uint64_t quotas_block_cnt(const struct quotas *quotas, uint32_t image);
uint64_t quotas_refused(const struct quotas *quotas, uint32_t image);

#endif
