/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the sizes of the tables of a BPF object: by options, or by the memory available. If the
 * kernel allocates entries on demand, sizes are generous, because unused entries cost little. Does
 * not know what the tables hold.
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
 * Returns the minimum memory of memleak in bytes: for the smallest tables, for rings and helper
 * processes and, if memleak finds processes itself, for symbols and unwind tables.
 */
uint64_t table_least_memory(const struct options *opts);

/*
 * Returns the memory in bytes for the tables of all BPF objects together: --max-memory, or a share
 * of the available memory.
 */
uint64_t table_memory(const struct options *opts, const struct memory_limit *limit);

/*
 * Chooses the sizes. If on_demand is set, entries are allocated when needed; otherwise they are
 * preallocated.
 */
struct table_sizes table_sizes_choose(const struct options *opts, uint64_t memory,
				      uint32_t stack_depth, bool on_demand);

#endif
