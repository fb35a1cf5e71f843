/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the census of one process into the numbers of a report. */
#ifndef PROOF_CENSUS_TABLE_H
#define PROOF_CENSUS_TABLE_H

#include <stdbool.h>

#include "proof/census.h"
#include "proof/chunk.h"
#include "report/heap_census.h"

/*
 * Adds a visited chunk. is_known: true if the source of blocks has reported a block in the chunk;
 * ignored unless the chunk is used.
 */
void census_table_add(struct heap_census *table, const struct chunk *chunk, bool is_known);

/*
 * Adds the totals of the census. Call after all chunks were added. Returns 0 or a negative errno.
 */
int census_table_finish(struct heap_census *table, const struct census *census,
			const struct memory *memory);

#endif
