/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manages the hash tables of blocks: at first one table, and a second one when the first is filling
 * up. A single large table would waste memory, because a hash table takes 16 bytes for each
 * possible entry as soon as it is created.
 */
#ifndef LOADER_TABLES_BLOCK_TABLES_H
#define LOADER_TABLES_BLOCK_TABLES_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/memleak.h"
#include "loader/tables/recent_blocks.h"

struct block_tables {
	int first_fd;
	int second_fd;  /* second table; -1 if there is none */
	int outer_fd;   /* map of maps in which the BPF programs find the second table */
	uint32_t first; /* maximum blocks in the first table */
	uint32_t second;
	volatile struct memleak_block_watch *watch; /* counts blocks put into the first table; NULL
						       if no second table can be created, or after
						       the attempt to create it */
};

/*
 * Sets the sizes of the tables to hold the given number of blocks. If may_grow is set, the first
 * table may be smaller, and a second table is created for the remaining blocks when needed.
 * on_demand: see tracker_prepare(). Called before load. Returns 0 or -EINVAL.
 */
int block_tables_prepare(struct bpf_object *object, uint32_t blocks, bool may_grow, bool on_demand,
			 struct memleak_config *config);

/* Looks up the first table and the map of maps. Call after load. Returns 0 or -ENOENT. */
int block_tables_init(struct block_tables *ret, const struct bpf_object *object);

/*
 * Allows the creation of a second table. blocks is the maximum number of blocks of both tables
 * together. Called if config->grows is set.
 */
void block_tables_watch(struct block_tables *tables, uint32_t blocks,
			volatile struct memleak_block_watch *watch);

void block_tables_deinit(struct block_tables *tables);

/*
 * Creates the second table if the counting filter shows that the first is filling up. If out of
 * memory, there is no second table, and blocks that do not fit into the first are counted as lost.
 */
void block_tables_grow(struct block_tables *tables, const struct recent_blocks *recent);

/*
 * Walk over all blocks like table_walk_run() and table_walk_delete(). If a block is freed during
 * the walk and its address is allocated again, the address may be visited twice.
 */
int block_tables_walk(const struct block_tables *tables,
		      int (*element)(void *arg, const void *key, const void *value),
		      bool (*stops)(void *arg), void *arg);
int block_tables_delete(const struct block_tables *tables,
			int (*element)(void *arg, const void *key, const void *value),
			void (*deleted)(void *arg, const void *key), void *arg);

#endif
