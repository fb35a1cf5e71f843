// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up pointers in three steps. Each step prefetches data for the next one. */
#include "proof/scan.h"

#include <stdbool.h>
#include <string.h>

#define WORD sizeof(uint64_t)

/* Maximum gap in bytes between two blocks that are read together. */
#define NEAR_BYTES 4096

/*
 * Value of pointer.word that reports that a block has too many possible pointers. No block contains
 * this address.
 */
#define CUT UINT64_MAX

int scan_init(const struct memory *memory, const struct block_index *index, scan_found_fn *found,
	      void *arg, struct scan *ret)
{
	struct scan scan = {
		.index = index,
		.address_bits = ~memory->ignored_bits,
		.found = found,
		.arg = arg,
		.most = SIZE_MAX,
	};
	int err = window_init(memory, SCAN_WINDOW_BYTES, &scan.window);

	if (!err)
		err = interior_init(memory, &scan.interior);
	if (err)
		scan_deinit(&scan);
	else
		*ret = scan;
	return err;
}

void scan_deinit(struct scan *scan)
{
	window_deinit(&scan->window);
	interior_deinit(&scan->interior);
}

/* Finds the block that contains the target of an interior pointer. */
static void look_around(struct scan *scan, struct pointer *pointer)
{
	const struct block_index *index = scan->index;
	uint32_t block = block_index_in_grain(index, pointer->grain, pointer->word);

	if (block >= index->cnt || index->blocks[block].addr > pointer->word)
		block = interior_empty_array(&scan->interior, index, block, pointer->word);
	pointer->block = block;
	if (block != NO_BLOCK)
		pointer->offset = (uint32_t)(pointer->word - index->blocks[block].addr);
}

void scan_flush(struct scan *scan)
{
	const struct block_index *index = scan->index;
	struct pointer *batch = scan->batch;
	size_t cnt = scan->batch_cnt, kept = 0;

	scan->batch_cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		batch[i].grain = block_index_grain(index, batch[i].word, &scan->cluster);
		if (batch[i].grain != NO_GRAIN)
			__builtin_prefetch(&index->grains[batch[i].grain]);
	}
	for (size_t i = 0; i < cnt; i++) {
		size_t grain = batch[i].grain;

		batch[i].block = grain == NO_GRAIN ? NO_BLOCK
						   : block_index_begin(index, grain, batch[i].word);
		if (grain != NO_GRAIN && batch[i].block == NO_BLOCK)
			__builtin_prefetch(&index->blocks[index->grains[grain].first]);
	}
	for (size_t i = 0; i < cnt; i++) {
		if (batch[i].grain != NO_GRAIN && batch[i].block == NO_BLOCK)
			look_around(scan, &batch[i]);
		if (batch[i].word == CUT ||
		    (batch[i].block != NO_BLOCK && batch[i].block != batch[i].holder))
			batch[kept++] = batch[i];
	}
	if (kept)
		scan->found(scan->arg, batch, kept);
}

/* Quick check: false if the word cannot point to a block. */
static bool may_point(const struct scan *scan, uint64_t word)
{
	return block_index_spans(scan->index, word & scan->address_bits);
}

/* Adds a possible pointer to the batch. False if the block has too many possible pointers. */
static bool consider(struct scan *scan, uint64_t word, uint32_t holder, uint64_t slot)
{
	bool fits = scan->seen++ < scan->most;

	scan->batch[scan->batch_cnt++] = (struct pointer){
		.word = fits ? word & scan->address_bits : CUT, .slot = slot, .holder = holder};
	if (scan->batch_cnt == SCAN_BATCH)
		scan_flush(scan);
	return fits;
}

void scan_word(struct scan *scan, uint64_t word, uint64_t slot)
{
	if (may_point(scan, word))
		consider(scan, word, NO_BLOCK, slot);
}

/*
 * Scans words that were read from addr. holder: block that contains these words, NO_BLOCK for root
 * memory. False if the block has too many possible pointers.
 */
static bool scan_words(struct scan *scan, const uint64_t *words, size_t cnt, uint32_t holder,
		       uint64_t addr)
{
	size_t i = 0;

	while (i < cnt) {
		/* Most words are not addresses of blocks: check eight at a time. */
		if (i + 8 <= cnt) {
			bool any = false;

			for (size_t j = i; j < i + 8; j++)
				any |= may_point(scan, words[j]);
			if (!any) {
				i += 8;
				continue;
			}
		}
		for (size_t end = i + 8 < cnt ? i + 8 : cnt; i < end; i++)
			if (may_point(scan, words[i]) &&
			    !consider(scan, words[i], holder, addr + i * WORD))
				return false;
	}
	return true;
}

void scan_memory(struct scan *scan, uint64_t start, uint64_t end, uint32_t holder, size_t ahead)
{
	start = (start + WORD - 1) & ~7ULL;
	end &= ~7ULL;
	scan->seen = 0;
	while (start < end) {
		size_t len = end - start;
		const uint64_t *words = window_get(&scan->window, start, ahead, &len);

		if (!words) {
			/* Skip to the next page, which may be readable. */
			start = (start | 4095) + 1;
			continue;
		}
		if (!scan_words(scan, words, len / WORD, holder, start))
			return;
		start += len;
	}
}

void scan_code(struct scan *scan, uint64_t start, uint64_t end)
{
	scan->seen = 0;
	while (start + WORD <= end) {
		size_t len = end - start < SCAN_WINDOW_BYTES ? end - start : SCAN_WINDOW_BYTES;
		const unsigned char *bytes = window_get(&scan->window, start, len, &len);

		if (!bytes || len < WORD) {
			start = (start | 4095) + 1;
			continue;
		}
		for (size_t i = 0; i + WORD <= len; i++) {
			uint64_t word;

			memcpy(&word, bytes + i, WORD);
			if (may_point(scan, word))
				consider(scan, word, NO_BLOCK, start + i);
		}
		start += len - WORD + 1;
	}
}

/*
 * Returns the end of the memory to read in one step: the end of the first block, or of a later one
 * if all blocks up to it are close together.
 */
static uint64_t run_end(const struct scan *scan, const uint32_t *blocks, size_t cnt)
{
	const struct heap_block *all = scan->index->blocks;
	uint64_t start = all[blocks[0]].addr, end = start + all[blocks[0]].size;

	for (size_t i = 1; i < cnt; i++) {
		const struct heap_block *block = &all[blocks[i]];

		if (block->addr > end + NEAR_BYTES ||
		    block->addr + block->size - start > SCAN_WINDOW_BYTES)
			break;
		end = block->addr + block->size;
	}
	return end;
}

void scan_blocks(struct scan *scan, const uint32_t *blocks, size_t cnt)
{
	uint64_t read_upto = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct heap_block *block = &scan->index->blocks[blocks[i]];

		if (block->addr >= read_upto)
			read_upto = run_end(scan, blocks + i, cnt - i);
		scan_memory(scan, block->addr, block->addr + block->size, blocks[i],
			    read_upto - block->addr);
	}
}
