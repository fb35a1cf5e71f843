/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the census of one process into the numbers of a report. */
#ifndef PROOF_CENSUS_TABLE_H
#define PROOF_CENSUS_TABLE_H

#include <stdbool.h>

#include "proof/census.h"
#include "proof/chunk.h"
#include "report/heap_census.h"

/*
 * Adds a chunk that census_take() visits. is_known: true if memleak tracks a block in the chunk;
 * ignored unless the chunk is used.
 */
void census_table_add(struct heap_census *table, const struct chunk *chunk, bool is_known);

/*
 * Adds the totals of the census, and counts the pages of heaps. Call after all chunks were added.
 * Returns 0 or a negative errno.
 */
int census_table_finish(struct heap_census *table, const struct census *census,
			const struct memory *memory);

#endif
