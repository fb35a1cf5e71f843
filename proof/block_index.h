/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Index of a heap's blocks by address. Memory is divided into grains, and each grain records where
 * blocks begin in it; a cluster is a run of grains with only small gaps between blocks. Finding the
 * block that begins at an address reads only one grain, which keeps cache misses low.
 */
#ifndef PROOF_BLOCK_INDEX_H
#define PROOF_BLOCK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/heap_block.h"

#define NO_BLOCK UINT32_MAX
#define NO_GRAIN SIZE_MAX

/*
 * log2 of the size of a grain: 512 bytes, which usually contain a few blocks. With this size, the
 * index takes 1/64 of the size of the memory.
 */
#define BLOCK_INDEX_SHIFT 9
/* Usual alignment of blocks. Only some allocators have very small blocks at other addresses. */
#define BLOCK_INDEX_ALIGN 16

struct block_grain {
	uint32_t first; /* first block that begins in this grain or after it */
	/*
	 * One bit per aligned address: set if a block begins there. All bits are 0 if any block of
	 * the grain is unaligned.
	 */
	uint32_t begins;
};

/* A run of neighbouring grains with only small gaps between their blocks. */
struct block_cluster {
	uint64_t start; /* start address of the cluster's first grain */
	uint64_t end;   /* end address, exclusive */
	size_t first;   /* index in `grains` of the cluster's first grain */
};

struct block_index {
	const struct heap_block *blocks; /* blocks, sorted by address; no two overlap */
	uint32_t cnt;
	struct block_cluster *clusters; /* clusters, sorted by address */
	size_t cluster_cnt;
	struct block_grain *grains;
	uint64_t low;  /* address below which no block begins */
	uint64_t span; /* distance from low to the end of the last cluster, in bytes */
};

/* Builds the index. The array of blocks must outlive the index. Returns 0 or -ENOMEM. */
int block_index_init(const struct heap_block *blocks, uint32_t cnt, struct block_index *ret);
void block_index_deinit(struct block_index *index);

/*
 * Finds a block in two steps, between which the caller can prefetch the grain. block_index_grain()
 * returns the index of the grain that contains addr, or NO_GRAIN if no block is near addr.
 * *cluster: cluster of the previous lookup, 0 before the first one. block_index_in_grain() returns
 * the index of the first block that ends after addr; a block of size 0 contains its address.
 */
size_t block_index_grain(const struct block_index *index, uint64_t addr, size_t *cluster);
uint32_t block_index_in_grain(const struct block_index *index, size_t grain, uint64_t addr);

/*
 * Returns the index of the block that begins at addr, an address in the grain; NO_BLOCK if no block
 * begins there, or if any block of the grain is unaligned.
 */
static inline uint32_t block_index_begin(const struct block_index *index, size_t grain,
					 uint64_t addr)
{
	const struct block_grain *at = &index->grains[grain];
	uint32_t bit = 1U << (addr / BLOCK_INDEX_ALIGN % 32);

	if (addr % BLOCK_INDEX_ALIGN || !(at->begins & bit))
		return NO_BLOCK;
	return at->first + (uint32_t)__builtin_popcount(at->begins & (bit - 1));
}

/* Returns the index of the first block that ends after addr, index->cnt if there is none. */
uint32_t block_index_from(const struct block_index *index, uint64_t addr);

/* Quick check: false if no block can contain addr. */
static inline bool block_index_spans(const struct block_index *index, uint64_t addr)
{
	return addr - index->low < index->span;
}

#endif
