// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds and searches the index of blocks. */
#include "proof/block_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/huge_pages.h"

#define GRAIN_BYTES (1ULL << BLOCK_INDEX_SHIFT)

/*
 * Maximum gap between two blocks of a cluster, in bytes. Indexing such a gap costs less than
 * starting a new cluster.
 */
#define GAP_BYTES (1ULL << 20)

static uint64_t block_end(const struct heap_block *block)
{
	return block->addr + (block->size ? block->size : 1);
}

static uint64_t grain_floor(uint64_t addr)
{
	return addr & ~(GRAIN_BYTES - 1);
}

static uint64_t grain_ceil(uint64_t addr)
{
	return grain_floor(addr + GRAIN_BYTES - 1);
}

static int find_clusters(struct block_index *index, size_t *ret_grains)
{
	size_t cap = 0, grains = 0;

	for (uint32_t i = 0; i < index->cnt; i++) {
		const struct heap_block *block = &index->blocks[i];
		size_t cnt = index->cluster_cnt;
		struct block_cluster *last = cnt ? &index->clusters[cnt - 1] : NULL;
		uint64_t end = grain_ceil(block_end(block));

		if (last && block->addr < last->end + GAP_BYTES) {
			if (end > last->end)
				last->end = end;
			continue;
		}
		if (array_reserve(&index->clusters, &cap, cnt + 1))
			return -ENOMEM;
		index->clusters[index->cluster_cnt++] =
			(struct block_cluster){.start = grain_floor(block->addr), .end = end};
	}
	for (size_t i = 0; i < index->cluster_cnt; i++) {
		struct block_cluster *cluster = &index->clusters[i];

		cluster->first = grains;
		grains += ((cluster->end - cluster->start) >> BLOCK_INDEX_SHIFT) + 1;
	}
	*ret_grains = grains;
	return 0;
}

/*
 * Returns a bitmap with one bit per aligned address of the grain, set if a block begins there; 0 if
 * any block of the grain is unaligned. block: first block that may begin in the grain; *ret_next:
 * first block that begins after the grain.
 */
static uint32_t begins_in(const struct block_index *index, uint64_t grain, uint32_t block,
			  uint32_t *ret_next)
{
	uint32_t begins = 0;
	bool odd = false;

	for (; block < index->cnt && index->blocks[block].addr < grain + GRAIN_BYTES; block++) {
		uint64_t addr = index->blocks[block].addr;

		odd |= addr % BLOCK_INDEX_ALIGN != 0;
		begins |= 1U << ((addr - grain) / BLOCK_INDEX_ALIGN);
	}
	*ret_next = block;
	return odd ? 0 : begins;
}

static void fill_grains(struct block_index *index)
{
	uint32_t block = 0;

	for (size_t i = 0; i < index->cluster_cnt; i++) {
		const struct block_cluster *cluster = &index->clusters[i];
		struct block_grain *at = &index->grains[cluster->first];

		for (uint64_t grain = cluster->start; grain <= cluster->end; grain += GRAIN_BYTES) {
			at->first = block;
			at->begins = begins_in(index, grain, block, &block);
			at++;
		}
	}
}

int block_index_init(const struct heap_block *blocks, uint32_t cnt, struct block_index *ret)
{
	struct block_index index = {.blocks = blocks, .cnt = cnt};
	size_t grains = 0;
	int err = find_clusters(&index, &grains);

	if (!err)
		index.grains = malloc((grains + 1) * sizeof(*index.grains));
	if (err || !index.grains) {
		block_index_deinit(&index);
		return -ENOMEM;
	}
	huge_pages_use(index.grains, (grains + 1) * sizeof(*index.grains));
	fill_grains(&index);
	if (index.cluster_cnt) {
		index.low = index.clusters[0].start;
		index.span = index.clusters[index.cluster_cnt - 1].end - index.low;
	}
	*ret = index;
	return 0;
}

void block_index_deinit(struct block_index *index)
{
	free(index->clusters);
	free(index->grains);
	memset(index, 0, sizeof(*index));
}

/* Returns the first cluster that ends after addr. */
static size_t cluster_from(const struct block_index *index, uint64_t addr)
{
	size_t low = 0, high = index->cluster_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->clusters[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t block_index_grain(const struct block_index *index, uint64_t addr, size_t *cluster)
{
	const struct block_cluster *at = &index->clusters[*cluster];

	if (!block_index_spans(index, addr))
		return NO_GRAIN;
	if (addr - at->start >= at->end - at->start) {
		*cluster = cluster_from(index, addr);
		at = &index->clusters[*cluster];
		if (addr < at->start)
			return NO_GRAIN;
	}
	return at->first + ((addr - at->start) >> BLOCK_INDEX_SHIFT);
}

/*
 * Returns the index of the first block that ends above addr. grain: the grain that contains addr.
 * `grains` always has an element `grain + 1`: a cluster has one grain more than its memory needs.
 */
uint32_t block_index_in_grain(const struct block_index *index, size_t grain, uint64_t addr)
{
	uint32_t first = index->grains[grain].first, high = index->grains[grain + 1].first;
	/* Include the block before `first`: it may end in this grain. */
	uint32_t low = first ? first - 1 : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (block_end(&index->blocks[middle]) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t block_index_from(const struct block_index *index, uint64_t addr)
{
	size_t at = cluster_from(index, addr);
	const struct block_cluster *cluster = &index->clusters[at];

	if (at == index->cluster_cnt)
		return index->cnt;
	if (addr < cluster->start)
		addr = cluster->start;
	return block_index_in_grain(
		index, cluster->first + ((addr - cluster->start) >> BLOCK_INDEX_SHIFT), addr);
}
