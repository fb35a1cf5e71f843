/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash tables of blocks: one, and a second, larger one once the first is getting full. A hash
 * table takes 16 bytes for each place when it is made, whether blocks come or not.
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
	int second_fd;  /* -1: there is none yet, or never */
	int outer_fd;   /* the map that the programs find the second one in */
	uint32_t first; /* blocks that the first one has room for */
	uint32_t second;
	volatile struct memleak_block_watch *watch; /* NULL: there never is a second one */
};

/*
 * Sets the sizes, before load: room for so many blocks in all. may_grow: the first table may be a
 * part of it. on_demand: see tracker_prepare. 0 or -EINVAL.
 */
int block_tables_prepare(struct bpf_object *object, uint32_t blocks, bool may_grow, bool on_demand,
			 struct memleak_config *config);

/* After load: there is one table. 0 or -ENOENT. */
int block_tables_init(struct block_tables *ret, const struct bpf_object *object);

/* If config->grows: there may be a second table, with room for so many blocks in all. */
void block_tables_watch(struct block_tables *tables, uint32_t blocks,
			volatile struct memleak_block_watch *watch);

void block_tables_deinit(struct block_tables *tables);

/*
 * Makes the second table if the first is getting full by what the counting filter says. If there
 * is no memory for it, the first stays the only one: what does not fit into it is counted as lost.
 */
void block_tables_grow(struct block_tables *tables, const struct recent_blocks *recent);

/*
 * Walks over all blocks, see table_walk_run: a block that is freed meanwhile and comes again at the
 * same address may be met twice. _delete: see table_walk_delete.
 */
int block_tables_walk(const struct block_tables *tables,
		      int (*element)(void *arg, const void *key, const void *value), void *arg);
int block_tables_delete(const struct block_tables *tables,
			int (*element)(void *arg, const void *key, const void *value),
			void (*deleted)(void *arg, const void *key), void *arg);

#endif
