// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the blocks, finds roots, and marks the blocks that can be reached. */
#include "proof/heap_proof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "proof/census.h"
#include "proof/census_table.h"
#include "proof/links.h"
#include "proof/roots.h"

/*
 * Bits per digit of the radix sort. With 64 buckets, the sort writes to at most 64 pages at a time,
 * so the TLB has an entry for each.
 */
#define DIGIT_BITS 6
#define DIGIT_CNT (1U << DIGIT_BITS)

/* Maximum length of a holder chain. */
#define CHAIN_MOST 1000000

/* Maximum blocks for insertion sort, which is faster for few blocks. */
#define FEW 32

static void sort_few(struct heap_block *blocks, size_t cnt)
{
	for (size_t i = 1; i < cnt; i++) {
		const struct heap_block block = blocks[i];
		size_t at = i;

		for (; at && blocks[at - 1].addr > block.addr; at--)
			blocks[at] = blocks[at - 1];
		blocks[at] = block;
	}
}

static size_t digit_of(const struct heap_block *block, unsigned int shift)
{
	return block->addr >> shift & (DIGIT_CNT - 1);
}

/*
 * Returns the position of the lowest bit of the first digit for the radix sort. The bits above this
 * digit are equal in all addresses. cnt must not be 0.
 */
static unsigned int highest_digit(const struct heap_block *blocks, size_t cnt)
{
	uint64_t differ = 0;
	int high;

	for (size_t i = 1; i < cnt; i++)
		differ |= blocks[i].addr ^ blocks[0].addr;
	high = differ ? 64 - __builtin_clzll(differ) : 0;
	return high > DIGIT_BITS ? (unsigned int)(high - DIGIT_BITS) : 0;
}

/* Moves each block to the bucket of its digit, within the array. */
static void sort_by_digit(struct heap_block *blocks, unsigned int shift, size_t *next,
			  const size_t *ends)
{
	for (size_t i = 0; i < DIGIT_CNT; i++) {
		while (next[i] < ends[i]) {
			struct heap_block block = blocks[next[i]];
			size_t digit;

			while ((digit = digit_of(&block, shift)) != i) {
				const struct heap_block other = blocks[next[digit]];

				blocks[next[digit]++] = block;
				block = other;
			}
			blocks[next[i]++] = block;
		}
	}
}

/*
 * Sorts blocks by address with an in-place radix sort, highest digit first. There may be millions
 * of blocks.
 */
static void sort_blocks(struct heap_block *blocks, size_t cnt)
{
	size_t next[DIGIT_CNT], ends[DIGIT_CNT] = {0}, place = 0;
	unsigned int shift;

	if (cnt <= FEW) {
		sort_few(blocks, cnt);
		return;
	}
	shift = highest_digit(blocks, cnt);
	for (size_t i = 0; i < cnt; i++)
		ends[digit_of(&blocks[i], shift)]++;
	for (size_t i = 0; i < DIGIT_CNT; i++) {
		next[i] = place;
		place = ends[i] += place;
	}
	sort_by_digit(blocks, shift, next, ends);
	for (size_t i = 0; shift && i < DIGIT_CNT; i++) {
		size_t begin = i ? ends[i - 1] : 0;

		sort_blocks(blocks + begin, ends[i] - begin);
	}
}

/*
 * Drops each block that overlaps a block at a lower address. Tables that are read while the program
 * runs may contain both a freed block and a new block in its place. Dropping a block does not make
 * other blocks appear lost: memory without a known block is a root. Also drops all blocks beyond
 * the highest index that a link can contain.
 */
static void drop_overlaps(struct heap *heap)
{
	uint32_t kept = 0;
	uint64_t end = 0;

	for (size_t i = 0; i < heap->block_cnt && kept < LINKS_NONE; i++) {
		const struct heap_block block = heap->blocks[i];

		if (kept && block.addr < end)
			continue;
		heap->blocks[kept++] = block;
		end = block.addr + (block.size ? block.size : 1);
	}
	heap->block_cnt = kept;
}

/* Collects root words: the registers of each thread, then the pointers that the kernel keeps. */
static int gather_words(const struct heap_picture *picture, struct root_words **ret)
{
	size_t cnt = picture->threads->cnt;
	struct root_words *words = calloc(cnt + 1, sizeof(*words));

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct thread_state *thread = &picture->threads->items[i];

		words[i] = (struct root_words){thread->words, thread->word_cnt};
	}
	words[cnt] = (struct root_words){picture->words, picture->word_cnt};
	*ret = words;
	return 0;
}

/* Blocks that the census has found, but memleak does not track. */
struct older_blocks {
	const struct heap *heap; /* heap with the tracked blocks */
	/* index of the first tracked block at or above the start of the last visited chunk */
	size_t next;
	struct heap_block *items;
	size_t cnt;
	size_t cap;
	struct root_ranges own; /* ranges of the allocator's own data */
	struct heap_census census;
	/*
	 * sum of the tracked blocks that are inside chunks, without unjudged ones (see
	 * add_judged())
	 */
	struct reach_sum judged_inside;
};

/*
 * Adds a block to a sum unless it is unjudged (report/heap_block.h): an unjudged block may be newer
 * than the picture.
 */
static void add_judged(struct reach_sum *sum, const struct heap_block *block)
{
	if (!heap_block_is_judged(block))
		return;
	sum->bytes += block->size;
	sum->count++;
}

/* Adds the tracked blocks in the chunk to the sums. True if there are any. */
static bool count_known(struct older_blocks *older, const struct chunk *chunk)
{
	const struct heap *heap = older->heap;
	size_t first = older->next, at;
	uint64_t requested_bytes = 0;

	while (first < heap->block_cnt && heap->blocks[first].addr < chunk->addr)
		first++;
	at = older->next = first;
	for (; at < heap->block_cnt && heap->blocks[at].addr - chunk->addr < chunk->size; at++) {
		requested_bytes += heap->blocks[at].size;
		add_judged(&older->judged_inside, &heap->blocks[at]);
	}
	/*
	 * A tracked block may be newer than the chunk in the picture, so add at most the size of
	 * the chunk. Sizes of very large blocks are capped, so for them add the size of the chunk
	 * instead.
	 */
	if (chunk->state == CHUNK_USED && at > first)
		older->census.requested_bytes +=
			requested_bytes < chunk->size && requested_bytes < HEAP_BLOCK_BYTES_MAX
				? requested_bytes
				: chunk->size;
	return at > first;
}

/*
 * Adds a chunk to the census. If a used chunk has no tracked block, also adds it as a block: it was
 * allocated before tracing began.
 */
static int add_chunk(void *arg, const struct chunk *chunk)
{
	struct older_blocks *older = arg;
	bool is_known = count_known(older, chunk);

	census_table_add(&older->census, chunk, is_known);
	if (chunk->state == CHUNK_OWN)
		return root_ranges_add(&older->own, chunk->addr, chunk->addr + chunk->size, 0);
	if (chunk->state != CHUNK_USED || is_known)
		return 0;
	if (array_reserve(&older->items, &older->cap, older->cnt + 1))
		return -ENOMEM;
	older->items[older->cnt++] = (struct heap_block){
		.addr = chunk->addr,
		.size = chunk->size < HEAP_BLOCK_BYTES_MAX ? (uint32_t)chunk->size
							   : HEAP_BLOCK_BYTES_MAX,
		.site = HEAP_BLOCK_UNJUDGED | HEAP_BLOCK_NO_SITE,
	};
	return 0;
}

/*
 * Joins the ranges of heaps with those of the allocator's data outside heaps. Neither may be roots.
 * For example, a list head has a pointer to a free chunk, and the first word of this chunk belongs
 * to the block before it: as a root, the list head would make that block reachable.
 */
static int join_heaps(const struct census *census, const struct root_ranges *own,
		      struct root_ranges *ret)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; !err && i <= census->heap_cnt; i++) {
		uint64_t start = i < census->heap_cnt ? census->heaps[i].start : UINT64_MAX;

		for (; !err && at < own->cnt && own->items[at].start < start; at++)
			if (!i || own->items[at].start >= census->heaps[i - 1].end)
				err = root_ranges_add(ret, own->items[at].start, own->items[at].end,
						      0);
		if (!err && i < census->heap_cnt)
			err = root_ranges_add(ret, start, census->heaps[i].end, 0);
	}
	return err;
}

/* Merges the older blocks into the blocks of the heap. Both arrays are sorted by address. */
static int join_blocks(struct heap *heap, struct older_blocks *older)
{
	size_t cnt = heap->block_cnt, left = older->cnt;

	if (!cnt) {
		free(heap->blocks);
		heap->blocks = older->items;
		heap->block_cnt = older->cnt;
		heap->block_cap = older->cap;
		older->items = NULL;
		return 0;
	}
	if (array_reserve(&heap->blocks, &heap->block_cap, cnt + left))
		return -ENOMEM;
	heap->block_cnt = cnt + left;
	/* Merge from the end, where the array has free room. */
	while (left) {
		bool is_older = !cnt || older->items[left - 1].addr > heap->blocks[cnt - 1].addr;
		size_t at = cnt + left - 1;

		heap->blocks[at] = is_older ? older->items[--left] : heap->blocks[--cnt];
	}
	return 0;
}

static int finish_census(const struct heap_picture *picture, const struct census *census,
			 const struct older_blocks *older, struct heap_census *ret)
{
	const struct heap *heap = older->heap;

	*ret = older->census;
	for (size_t i = 0; i < heap->block_cnt; i++)
		add_judged(&ret->elsewhere, &heap->blocks[i]);
	ret->elsewhere.bytes -= older->judged_inside.bytes;
	ret->elsewhere.count -= older->judged_inside.count;
	return census_table_finish(ret, census, picture->memory);
}

/*
 * Adds the blocks from before tracing began that the census finds, and excludes free heap memory
 * from the roots. Heaps that cannot be walked remain roots as a whole.
 */
static int add_older_blocks(const struct heap_picture *picture, struct heap *heap,
			    struct root_ranges *ret_heaps, struct heap_census *ret_census)
{
	struct older_blocks older = {.heap = heap};
	struct census census = {0};
	int err = census_take(picture->memory, add_chunk, &older, &census);

	if (!err)
		err = join_heaps(&census, &older.own, ret_heaps);
	if (!err && picture->wants_census)
		err = finish_census(picture, &census, &older, ret_census);
	if (!err)
		err = join_blocks(heap, &older);
	census_deinit(&census);
	free(older.items);
	root_ranges_deinit(&older.own);
	if (!err)
		drop_overlaps(heap);
	return err;
}

int heap_proof_init(const struct heap_picture *picture, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct heap_proof *ret)
{
	struct heap_proof proof = {0};
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct root_memory roots = {0};
	cleanup_free struct root_words *words = NULL;
	struct block_index index;
	struct marking_request request = {
		.memory = picture->memory,
		.index = &index,
		.worker_cnt = parallel_worker_cnt(),
		.stop = stop,
		.arg = arg,
	};
	int err;

	sort_blocks(heap->blocks, heap->block_cnt);
	drop_overlaps(heap);
	err = add_older_blocks(picture, heap, &proof.heaps, &proof.census);
	if (!err)
		err = block_index_init(heap->blocks, (uint32_t)heap->block_cnt, &index);
	if (err) {
		root_ranges_deinit(&proof.heaps);
		return err;
	}
	proof.cnt = (uint32_t)heap->block_cnt;
	proof.blocks = heap->blocks;
	err = gather_words(picture, &words);
	if (!err)
		err = roots_find(picture->memory, picture->threads, &index, &proof.heaps, &roots);
	request.roots = (struct roots){
		.ranges = roots.data.items,
		.range_cnt = roots.data.cnt,
		.code_ranges = roots.code.items,
		.code_range_cnt = roots.code.cnt,
		.words = words,
		.words_cnt = picture->threads->cnt + 1,
		.late_ranges = roots.late.items,
		.late_range_cnt = roots.late.cnt,
	};
	if (!err)
		err = marking_run(&request, &proof.marks);
	root_memory_deinit(&roots);
	block_index_deinit(&index);
	if (err) {
		root_ranges_deinit(&proof.heaps);
		return err;
	}
	proof.scanned_bytes = proof.marks.scanned_bytes;
	proof.took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	*ret = proof;
	return 0;
}

void heap_proof_deinit(struct heap_proof *proof)
{
	marks_deinit(&proof->marks);
	root_ranges_deinit(&proof->heaps);
	memset(proof, 0, sizeof(*proof));
}

uint32_t heap_proof_blocks_upto(const struct heap_proof *proof, uint64_t addr)
{
	return (uint32_t)bisect_upto(proof->blocks, proof->cnt, addr, addr);
}

uint32_t heap_proof_find(const struct heap_proof *proof, uint64_t addr)
{
	uint32_t cnt = heap_proof_blocks_upto(proof, addr);

	return cnt && addr - proof->blocks[cnt - 1].addr < proof->blocks[cnt - 1].size ? cnt - 1
										       : NO_BLOCK;
}

bool heap_proof_is_free(const struct heap_proof *proof, uint64_t addr)
{
	size_t cnt = bisect_upto(proof->heaps.items, proof->heaps.cnt, start, addr);

	return cnt && addr < proof->heaps.items[cnt - 1].end &&
	       heap_proof_find(proof, addr) == NO_BLOCK;
}

bool heap_proof_top_of(const struct heap_proof *proof, uint32_t block, uint32_t *ret_top,
		       uint64_t *ret_slot)
{
	const struct marks *marks = &proof->marks;

	if (marks->kinds[block] != MARK_REACHABLE && marks->kinds[block] != MARK_POSSIBLE)
		return false;
	for (size_t steps = 0; steps < CHAIN_MOST; steps++) {
		uint32_t holder = marks->holders[block];

		if (holder == NO_BLOCK || holder & MARKS_SLOT) {
			*ret_top = block;
			*ret_slot = holder == NO_BLOCK ? 0 : marks->slots[holder & ~MARKS_SLOT];
			return true;
		}
		block = holder;
	}
	return false;
}
