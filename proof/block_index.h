/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of a heap by address, and a quick way to the one that holds an address: for each grain
 * of memory where in it blocks begin, in clusters of grains that have blocks. To find the block
 * that begins at an address its grain is all that is looked at, as each look may have to wait for
 * memory.
 */
#ifndef PROOF_BLOCK_INDEX_H
#define PROOF_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/heap_block.h"

#define NO_BLOCK UINT32_MAX
#define NO_GRAIN SIZE_MAX

/* 512 bytes: a few blocks, and an index of a sixty-fourth of the memory. */
#define BLOCK_INDEX_SHIFT 9
/* Allocators have blocks at multiples of this, but for very small ones of some. */
#define BLOCK_INDEX_ALIGN 16

struct block_grain {
	uint32_t first;  /* the first block that begins in it, or behind it */
	uint32_t begins; /* a bit for each place where one begins; none if one does elsewhere */
};

/* Grains with blocks that are not far from each other. */
struct block_cluster {
	uint64_t start; /* of its first grain */
	uint64_t end;   /* exclusive */
	size_t first;   /* of its first grain in grains */
};

struct block_index {
	const struct heap_block *blocks; /* by address; no two overlap */
	uint32_t cnt;
	struct block_cluster *clusters; /* by address */
	size_t cluster_cnt;
	struct block_grain *grains;
	uint64_t low;  /* no block is below it, */
	uint64_t span; /* nor so many bytes above it */
};

/* blocks outlives the index. 0 or -ENOMEM. */
int block_index_init(const struct heap_block *blocks, uint32_t cnt, struct block_index *ret);
void block_index_deinit(struct block_index *index);

/*
 * The block that holds addr, or begins there if it has no bytes; NO_BLOCK: none. cluster: where the
 * last one was found, 0 at first.
 */
uint32_t block_index_find(const struct block_index *index, uint64_t addr, size_t *cluster);

/*
 * The same in two steps, so that what the second needs can be fetched meanwhile. The grain,
 * NO_GRAIN: no block is near; in it the first block that ends behind addr.
 */
size_t block_index_grain(const struct block_index *index, uint64_t addr, size_t *cluster);
uint32_t block_index_in_grain(const struct block_index *index, size_t grain, uint64_t addr);

/* The block that begins at addr, which is in the grain; NO_BLOCK: none, or one at an odd place. */
static inline uint32_t block_index_begin(const struct block_index *index, size_t grain,
					 uint64_t addr)
{
	const struct block_grain *at = &index->grains[grain];
	uint32_t bit = 1U << (addr / BLOCK_INDEX_ALIGN % 32);

	if (addr % BLOCK_INDEX_ALIGN || !(at->begins & bit))
		return NO_BLOCK;
	return at->first + (uint32_t)__builtin_popcount(at->begins & (bit - 1));
}

/* The first block that ends behind addr; cnt: none does. */
uint32_t block_index_from(const struct block_index *index, uint64_t addr);

/* Whether addr may be in a block: a quick look. */
static inline bool block_index_spans(const struct block_index *index, uint64_t addr)
{
	return addr - index->low < index->span;
}

#endif
