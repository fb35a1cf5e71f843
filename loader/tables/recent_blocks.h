/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/recent_blocks.bpf.h: the recent-block cache, with blocks that are not in
 * the table yet, and the counting filter of those that are. Both are memory of the programs, which
 * go on changing it.
 */
#ifndef LOADER_TABLES_RECENT_BLOCKS_H
#define LOADER_TABLES_RECENT_BLOCKS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/block_tables.h"
#include "loader/target/image_set.h"

struct recent_blocks {
	struct memleak_recent *buckets;
	size_t bucket_cnt; /* a power of two */
	struct memleak_filter *filter;
	size_t filter_cnt;
	enum memleak_domain domain;
	struct memleak_recent *seen; /* the buckets as they were at the last walk */
};

/* After load. domain: what the blocks are. 0 or a negative errno. */
int recent_blocks_init(struct recent_blocks *recent, const struct bpf_object *object,
		       enum memleak_domain domain);
void recent_blocks_deinit(struct recent_blocks *recent);

/*
 * Calls element, as struct table_walk does, for each block of the cache. A block that is moved to
 * the table meanwhile is met here, there, or both; so the table has to be walked afterwards.
 * read_cnt: is told how many buckets have been read; NULL: nobody asks.
 */
int recent_blocks_walk(struct recent_blocks *recent, volatile uint32_t *read_cnt,
		       int (*element)(void *arg, const void *key, const void *value), void *arg);

/* Whether the last walk has met a block at that address. */
bool recent_blocks_met(const struct recent_blocks *recent, const struct memleak_block_key *key);

/* How many blocks are in the cache, and how many are in the table by the counting filter. */
void recent_blocks_count(const struct recent_blocks *recent, uint64_t *ret_recent,
			 uint64_t *ret_filter);

/* Drops the blocks of images; returns how many bytes they have. */
uint64_t recent_blocks_purge(struct recent_blocks *recent, const struct image_set *images);

/* A block has been deleted from the table: corrects the counting filter. */
void recent_blocks_uncount(struct recent_blocks *recent, const struct memleak_block_key *key);

#endif
