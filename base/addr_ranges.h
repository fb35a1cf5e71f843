/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of address ranges, which may overlap, each with a value: first filled, then sorted once,
 * then searched. Searches take bounded time even for ranges from hostile files.
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
	struct range *ranges; /* sorted by start, then longest first, then in the order added */
	uint64_t *max_end;    /* highest end of the ranges up to each index */
	size_t cnt;
	size_t cap;
};

/* Adds a range. Empty ranges are ignored. Fails only with -ENOMEM. */
int range_table_add(struct range_table *table, uint64_t start, uint64_t end, uint64_t value);

/* Prepares the table for searches; no range may be added afterwards. Fails only with -ENOMEM. */
int range_table_finish(struct range_table *table);

/*
 * Returns the ranges that contain addr one by one, innermost first (latest start, then shortest,
 * then last added). last: NULL for the first call, then the previous result. Returns NULL at the
 * end.
 */
const struct range *range_table_next(const struct range_table *table, uint64_t addr,
				     const struct range *last);

/* Returns the highest end of all ranges that start at or below addr; 0 if there are none. */
uint64_t range_table_max_end(const struct range_table *table, uint64_t addr);

void range_table_deinit(struct range_table *table);

#endif
