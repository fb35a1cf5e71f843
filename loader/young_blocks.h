/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's side of bpf/young.bpf.h: the blocks that are not in the table yet, and the counts
 * of those that are. Both are the programs' own memory, which go on changing it.
 */
#ifndef YOUNG_BLOCKS_H
#define YOUNG_BLOCKS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/block_tables.h"
#include "loader/image_set.h"

struct young_blocks {
	struct memleak_young *buckets;
	size_t bucket_cnt; /* a power of two */
	struct memleak_held *held;
	size_t held_cnt;
	enum memleak_domain domain;
	struct memleak_young *seen; /* the buckets as they were at the last walk */
};

/* After load. domain: what they are. 0 or a negative errno. */
int young_blocks_init(struct young_blocks *young, const struct bpf_object *object,
		      enum memleak_domain domain);
void young_blocks_deinit(struct young_blocks *young);

/*
 * Calls element, as of struct table_walk, for each. A block that is moved to the table meanwhile
 * is met here, there, or both; so the table has to be walked afterwards.
 */
int young_blocks_walk(struct young_blocks *young,
		      int (*element)(void *arg, const void *key, const void *value), void *arg);

/* Whether the last walk has met a block at that address. */
bool young_blocks_met(const struct young_blocks *young, const struct memleak_block_key *key);

/* How many are young, and how many the table holds by its counts. */
void young_blocks_count(const struct young_blocks *young, uint64_t *ret_young, uint64_t *ret_held);

/* Drops those of an image; returns how many bytes they have. */
uint64_t young_blocks_purge(struct young_blocks *young, const struct image_set *images);

/* A block has been deleted from the table. */
void young_blocks_uncount(struct young_blocks *young, const struct memleak_block_key *key);

#endif
