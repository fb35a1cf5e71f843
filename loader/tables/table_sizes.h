/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many entries the tables of one BPF object have room for: what options fix, and else what the
 * memory allows. Where the kernel allocates entries on demand, room that is not used costs little,
 * so that there is plenty by default. Knows nothing of what is in the tables.
 */
#ifndef LOADER_TABLES_TABLE_SIZES_H
#define LOADER_TABLES_TABLE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/target/memory_limit.h"
#include "options/options.h"

struct table_sizes {
	uint32_t blocks;
	uint32_t stacks;
	uint32_t sites;
};

/*
 * Returns the bytes that memleak needs at least, with the smallest tables: for rings and for its
 * own processes, and for names and unwind tables if it looks for processes to trace.
 */
uint64_t table_least_memory(const struct options *opts);

/* The memory for the tables of all objects: --max-memory, or a share of what there is. */
uint64_t table_memory(const struct options *opts, const struct memory_limit *limit);

/* on_demand: entries are allocated as they are needed. */
struct table_sizes table_sizes_choose(const struct options *opts, uint64_t memory,
				      uint32_t stack_depth, bool on_demand);

#endif
