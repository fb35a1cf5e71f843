// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements a sorted table of address ranges, which may overlap. */
#include <errno.h>
#include <stdlib.h>

#include "base/addr_ranges.h"
#include "base/array.h"
#include "base/bisect.h"
#include "base/order.h"

/*
 * Maximum number of ranges examined per search. In real tables, only a few ranges contain the same
 * address; the limit bounds the time for hostile tables.
 */
#define STEPS_MAX 4096

int range_table_add(struct range_table *table, uint64_t start, uint64_t end, uint64_t value)
{
	if (end <= start)
		return 0;
	if (array_reserve(&table->ranges, &table->cap, table->cnt + 1))
		return -ENOMEM;
	table->ranges[table->cnt++] = (struct range){start, end, value};
	return 0;
}

struct sort_item {
	struct range range;
	size_t order;
};

static int compare_items(const void *a, const void *b)
{
	const struct sort_item *x = a, *y = b;

	return ORDER(x->range.start, y->range.start) ?: ORDER(y->range.end, x->range.end)
							?: ORDER(x->order, y->order);
}

int range_table_finish(struct range_table *table)
{
	struct sort_item *items;
	uint64_t max_end = 0;

	table->max_end = calloc(table->cnt + 1, sizeof(*table->max_end));
	items = calloc(table->cnt + 1, sizeof(*items));
	if (!table->max_end || !items) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->cnt; i++)
		items[i] = (struct sort_item){table->ranges[i], i};
	qsort(items, table->cnt, sizeof(*items), compare_items);
	for (size_t i = 0; i < table->cnt; i++) {
		table->ranges[i] = items[i].range;
		if (max_end < items[i].range.end)
			max_end = items[i].range.end;
		table->max_end[i] = max_end;
	}
	free(items);
	return 0;
}

/* Returns the number of ranges that start at or below addr. */
static size_t started(const struct range_table *table, uint64_t addr)
{
	return bisect_upto(table->ranges, table->cnt, start, addr);
}

const struct range *range_table_next(const struct range_table *table, uint64_t addr,
				     const struct range *last)
{
	size_t i = last ? (size_t)(last - table->ranges) : started(table, addr);

	for (unsigned int steps = 0; i > 0 && steps < STEPS_MAX; steps++) {
		i--;
		if (table->max_end[i] <= addr)
			return NULL;
		if (table->ranges[i].end > addr)
			return &table->ranges[i];
	}
	return NULL;
}

uint64_t range_table_max_end(const struct range_table *table, uint64_t addr)
{
	size_t cnt = started(table, addr);

	return cnt ? table->max_end[cnt - 1] : 0;
}

void range_table_deinit(struct range_table *table)
{
	free(table->ranges);
	free(table->max_end);
	*table = (struct range_table){0};
}
