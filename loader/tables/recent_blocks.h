/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/recent_blocks.bpf.h: the recent-block cache, which has the blocks that
 * are not in the block table yet, and the counting filter for blocks in the block table. Both are
 * in memory shared with the BPF programs, which may change them at any time.
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
	size_t bucket_cnt; /* number of buckets, a power of two */
	struct memleak_filter *filter;
	size_t filter_cnt;
	enum memleak_domain domain;
	struct memleak_recent *seen; /* copies of the buckets, made by the last walk */
	/*
	 * for each bucket of `seen`: a bit for each block, selected by its hash. Most questions of
	 * recent_blocks_visited() need only these words, which fit into the processor's caches.
	 */
	uint64_t *seen_bits;
};

/*
 * Maps the cache and the filter into memory. Call after load. domain: domain of the block addresses
 * in the cache, see enum memleak_domain. Returns 0 or a negative errno.
 */
int recent_blocks_init(struct recent_blocks *recent, const struct bpf_object *object,
		       enum memleak_domain domain);
void recent_blocks_deinit(struct recent_blocks *recent);

/*
 * Calls element() for each block of the cache, like table_walk_run(). Walk the block table
 * afterwards: a block that moves to this table meanwhile is visited in at least one of the two
 * walks. During the walk, *read_cnt is the number of buckets read so far; read_cnt may be NULL.
 */
int recent_blocks_walk(struct recent_blocks *recent, volatile uint32_t *read_cnt,
		       int (*element)(void *arg, const void *key, const void *value), void *arg);

/* True if the last walk has visited a block with this key. */
bool recent_blocks_visited(const struct recent_blocks *recent, const struct memleak_block_key *key);

/*
 * Counts the blocks in the cache (ret_recent) and, by the counting filter, the blocks in the table
 * (ret_filter).
 */
void recent_blocks_count(const struct recent_blocks *recent, uint64_t *ret_recent,
			 uint64_t *ret_filter);

/* Drops the blocks of the given images. Returns the total bytes of these blocks. */
uint64_t recent_blocks_purge(struct recent_blocks *recent, const struct image_set *images);

/* Subtracts a block from the counting filter after the block was deleted from the table. */
void recent_blocks_uncount(struct recent_blocks *recent, const struct memleak_block_key *key);

#endif
