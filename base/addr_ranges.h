/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address ranges that may overlap, each with a number of the user's: filled, sorted once, then
 * only asked. Bounded work per question, whatever a hostile file put in.
 */
#ifndef BASE_ADDR_RANGES_H
#define BASE_ADDR_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start;
	uint64_t end; /* exclusive */
	uint64_t value;
};

struct range_table {
	struct range *ranges; /* by start, then longest first, then as they were added */
	uint64_t *max_end;    /* of this range and all before it */
	size_t cnt;
	size_t cap;
};

/* Empty ranges are left out. Fails only with -ENOMEM. */
int range_table_add(struct range_table *table, uint64_t start, uint64_t end, uint64_t value);

/* Makes the table ready to be asked; nothing may be added afterwards. Fails only with -ENOMEM. */
int range_table_finish(struct range_table *table);

/*
 * The ranges that hold addr, innermost first (latest start, then shortest, then last added):
 * last is NULL for the first, then what was returned. NULL: no more.
 */
const struct range *range_table_next(const struct range_table *table, uint64_t addr,
				     const struct range *last);

/* The highest end of all ranges that start at addr or below; 0: none. */
uint64_t range_table_max_end(const struct range_table *table, uint64_t addr);

void range_table_deinit(struct range_table *table);

#endif
