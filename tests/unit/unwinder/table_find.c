// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches an unwind table as the BPF programs do. */
#include "tests/unit/unwinder/table_find.h"

struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	const struct unwind_rule *rules = (const struct unwind_rule *)table->words;
	uint64_t granule = (offset - table->first) >> UNWIND_GRANULE_BITS;
	uint32_t entry, position, row = 0;

	if (offset < table->first || granule >= table->granule_cnt)
		return (struct unwind_rule){.cfa = UNWIND_CFA_NO_ROW};
	entry = table->words[table->index + granule];
	position = UNWIND_INDEX_POSITION(entry);
	for (uint32_t step = (UNWIND_GRANULE_ROWS_MAX + 1) / 2; step; step /= 2)
		if (row + step < UNWIND_INDEX_COUNT(entry) &&
		    UNWIND_ROW_LOW(table->words[position + row + step]) <=
			    offset % UNWIND_GRANULE_BYTES)
			row += step;
	return rules[UNWIND_ROW_RULE(table->words[position + row])];
}
