/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the blocks that hang from lost blocks, i.e. blocks to which only lost blocks point. There
 * is one sum for each pair of the site of a lost block and the site of the blocks that hang from
 * it.
 */
#ifndef PROOF_HANGING_SUMS_H
#define PROOF_HANGING_SUMS_H

#include "base/hash_map.h"
#include "report/snapshot.h"

/* Initialise with zeros. */
struct hanging_sums {
	/* sums, with indexes of sites instead of site ids in `head` and `site` */
	struct hanging_sum *items;
	size_t cnt;
	size_t cap;
	struct hash_map places; /* index in `items` + 1; key: pair of sites */
};

/*
 * Adds a block that hangs from a lost block. site: index of its site; head: index of the lost
 * block's site. Returns 0 or -ENOMEM.
 */
int hanging_sums_add(struct hanging_sums *sums, uint32_t head, uint32_t site, uint64_t bytes);

/*
 * Copies the sums to `snap`, with site ids instead of indexes. The indexes must be those of the
 * sites in `snap`. Returns 0 or -ENOMEM.
 */
int hanging_sums_fill(const struct hanging_sums *sums, struct snapshot *snap);

void hanging_sums_deinit(struct hanging_sums *sums);

#endif
