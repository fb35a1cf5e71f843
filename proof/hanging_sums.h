/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums up blocks that hang from lost ones by both their sites. Knows nothing of marks. */
#ifndef PROOF_HANGING_SUMS_H
#define PROOF_HANGING_SUMS_H

#include "base/hash_map.h"
#include "report/snapshot.h"

/* All zeros at first. */
struct hanging_sums {
	struct hanging_sum *items; /* with indices of sites instead of their ids */
	size_t cnt;
	size_t cap;
	struct hash_map places; /* 1 + the index of an item by both sites */
};

/* Another block of that site, which hangs from one of head. 0 or -ENOMEM. */
int hanging_sums_add(struct hanging_sums *sums, uint32_t head, uint32_t site, uint64_t bytes);

/* Hands what was summed up to the snapshot, whose sites these are. 0 or -ENOMEM. */
int hanging_sums_fill(const struct hanging_sums *sums, struct snapshot *snap);

void hanging_sums_deinit(struct hanging_sums *sums);

#endif
