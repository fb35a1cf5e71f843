/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a census of one process to the numbers that a report has of it. */
#ifndef PROOF_CENSUS_TABLE_H
#define PROOF_CENSUS_TABLE_H

#include <stdbool.h>

#include "proof/census.h"
#include "proof/chunk.h"
#include "report/heap_census.h"

/* Adds a chunk as it was visited; is_known is of used ones alone. */
void census_table_add(struct heap_census *table, const struct chunk *chunk, bool is_known);

/* Adds what the census tells in all, once its chunks are added. 0 or a negative errno. */
int census_table_finish(struct heap_census *table, const struct census *census,
			const struct memory *memory);

#endif
