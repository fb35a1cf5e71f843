/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up blocks that hang from lost blocks, by pair of sites. */
#ifndef PROOF_HANGING_SUMS_H
#define PROOF_HANGING_SUMS_H

#include "base/hash_map.h"
#include "report/snapshot.h"

/* Initialise with zeros. */
struct hanging_sums {
	struct hanging_sum *items; /* with indexes of sites instead of their ids */
	size_t cnt;
	size_t cap;
	struct hash_map places; /* 1 + index of an item, by pair of sites */
};

/* Adds a block of a site that hangs from a block of head. Returns 0 or -ENOMEM. */
int hanging_sums_add(struct hanging_sums *sums, uint32_t head, uint32_t site, uint64_t bytes);

/* Copies the sums to the snapshot, which has these sites. Returns 0 or -ENOMEM. */
int hanging_sums_fill(const struct hanging_sums *sums, struct snapshot *snap);

void hanging_sums_deinit(struct hanging_sums *sums);

#endif
