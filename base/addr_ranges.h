/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of address ranges, each with a value. Ranges may overlap. The table is first filled, then
 * sorted once, then searched. A search takes bounded time even if the ranges come from hostile
 * files.
 */
#ifndef BASE_ADDR_RANGES_H
#define BASE_ADDR_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start;
	uint64_t end; /* end address, exclusive */
	uint64_t value;
};

struct range_table {
	/* sorted by start, then by length (longest first), then in the order added */
	struct range *ranges;
	uint64_t *max_end; /* max_end[i]: highest end of ranges[0] to ranges[i] */
	size_t cnt;
	size_t cap;
};

/* Adds a range, unless it is empty. Fails only with -ENOMEM. */
int range_table_add(struct range_table *table, uint64_t start, uint64_t end, uint64_t value);

/* Prepares the table for searches; no range may be added afterwards. Fails only with -ENOMEM. */
int range_table_finish(struct range_table *table);

/*
 * Returns the next range that contains addr, innermost first: the range with the highest start,
 * then the shortest, then the one added last. last: result of the previous call; NULL for the first
 * call. Returns NULL if there are no more ranges.
 */
const struct range *range_table_next(const struct range_table *table, uint64_t addr,
				     const struct range *last);

/* Returns the highest end of the ranges that start at or below addr; 0 if there are none. */
uint64_t range_table_max_end(const struct range_table *table, uint64_t addr);

void range_table_deinit(struct range_table *table);

#endif
