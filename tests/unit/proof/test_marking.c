// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests marking reachable blocks: compares it, on random heaps, with a search over all pairs of
 * blocks.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proof/marking.h"
#include "tests/unit/lib/random.h"
#include "tests/unit/proof/fake_memory.h"

#define BASE 0x555500000000ULL
#define BLOCKS_MAX 48
#define ROOT_WORDS 16
#ifdef __SANITIZE_ADDRESS__
#define HEAPS 500 /* a sanitizer makes the threads of each slow */
#else
#define HEAPS 2000
#endif

static uint64_t random_below(uint64_t *seed, uint64_t limit)
{
	return random_next(seed) % limit;
}

/* A random heap: root words, then blocks with gaps between them. */
struct heap {
	struct fake_memory fake;
	struct heap_block blocks[BLOCKS_MAX];
	uint32_t cnt;
	uint64_t words[2];
	struct root_range range;
	struct root_range late;
	struct root_words registers;
	uint64_t seed;
};

/*
 * Returns the number of the block that a word points to, or NO_BLOCK. Sets *begin if the word
 * points to the start of the block.
 */
static uint32_t target(struct heap *heap, uint64_t word, bool *begin)
{
	uint32_t empty = NO_BLOCK;

	word &= ~heap->fake.memory.ignored_bits;
	for (uint32_t i = 0; i < heap->cnt; i++) {
		const struct heap_block *block = &heap->blocks[i];

		/*
		 * An array of no elements: a pointer right after the element count also points to
		 * the block.
		 */
		if (block->size == 8 && word == block->addr + 8 &&
		    !*fake_memory_at(&heap->fake, block->addr))
			empty = i;
		if (word != block->addr &&
		    (word < block->addr || word >= block->addr + block->size))
			continue;
		*begin = word - block->addr < 8;
		return i;
	}
	*begin = true;
	return empty;
}

/*
 * Returns a random word: a pointer to the start of a block, into a block or outside of all blocks,
 * or a number.
 */
static uint64_t random_word(struct heap *heap)
{
	const struct heap_block *block = &heap->blocks[random_below(&heap->seed, heap->cnt)];

	switch (random_below(&heap->seed, 8)) {
	case 0:
		return block->addr;
	case 1:
		return block->size ? block->addr + random_below(&heap->seed, block->size)
				   : block->addr;
	case 2:
		return block->addr + block->size;
	case 3:
		return block->addr - 8;
	case 4:
		return 1000000 + random_below(&heap->seed, 1000);
	case 5:
		return block->addr | random_next(&heap->seed) << 56;
	default:
		return 0;
	}
}

/*
 * Returns a random size. Most sizes are small, some have room for many pointers, and some are too
 * large for their pointers to be cached.
 */
static uint32_t random_size(struct heap *heap)
{
	static const uint64_t limits[] = {100, 100, 100, 100, 100, 100, 600, 9000};

	return (uint32_t)random_below(&heap->seed, limits[random_below(&heap->seed, 8)]);
}

/* Makes a random heap. Blocks are aligned to 16 bytes, or to 8 bytes as by some allocators. */
static void make_heap(struct heap *heap, uint64_t seed)
{
	uint64_t at, align = seed % 2 ? 16 : 8;

	*heap = (struct heap){.seed = seed};
	heap->cnt = 1 + (uint32_t)random_below(&heap->seed, BLOCKS_MAX);
	at = BASE + ROOT_WORDS * 8 + 16;
	for (uint32_t i = 0; i < heap->cnt; i++) {
		heap->blocks[i] = (struct heap_block){
			at, random_size(heap),
			random_below(&heap->seed, 20) ? 0 : HEAP_BLOCK_UNJUDGED};
		at += (heap->blocks[i].size + 8 + align - 1) / align * align +
		      align * random_below(&heap->seed, 400);
	}
	fake_memory_init(&heap->fake, BASE, (at - BASE) / 8 + 1);
	heap->fake.memory.ignored_bits = seed % 3 ? 0 : 0xffULL << 56;
	for (size_t i = 0; i < ROOT_WORDS; i++)
		if (!random_below(&heap->seed, 3))
			heap->fake.words[i] = random_word(heap);
	for (uint32_t i = 0; i < heap->cnt; i++)
		for (uint64_t word = 0; word < heap->blocks[i].size / 8; word++)
			*fake_memory_at(&heap->fake, heap->blocks[i].addr + 8 * word) =
				random_word(heap);
	heap->words[0] = random_below(&heap->seed, 4) ? 0 : random_word(heap);
	heap->range = (struct root_range){BASE, BASE + (ROOT_WORDS - 2) * 8};
	heap->late = (struct root_range){heap->range.end, BASE + ROOT_WORDS * 8};
	heap->registers = (struct root_words){heap->words, 2};
}

struct model {
	bool points[BLOCKS_MAX][BLOCKS_MAX]; /* [i][j]: i points to the start or interior of j */
	bool begins[BLOCKS_MAX][BLOCKS_MAX];
	bool root_points[BLOCKS_MAX];
	bool root_begins[BLOCKS_MAX];
	uint8_t kinds[BLOCKS_MAX];
	bool hangs[BLOCKS_MAX][BLOCKS_MAX]; /* [i][j]: j is reachable from i */
};

static void note(struct heap *heap, uint64_t word, bool *points, bool *begins)
{
	bool begin = false;
	uint32_t at = target(heap, word, &begin);

	if (at == NO_BLOCK)
		return;
	points[at] = true;
	begins[at] |= begin;
}

static void read_model(struct heap *heap, struct model *model)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < ROOT_WORDS; i++)
		note(heap, heap->fake.words[i], model->root_points, model->root_begins);
	note(heap, heap->words[0], model->root_points, model->root_begins);
	for (uint32_t i = 0; i < heap->cnt; i++)
		for (uint64_t word = 0; word < heap->blocks[i].size / 8; word++)
			note(heap, *fake_memory_at(&heap->fake, heap->blocks[i].addr + 8 * word),
			     model->points[i], model->begins[i]);
}

/*
 * Gives the mark `kind` to each block with a lower mark, if a block with this mark or a higher one
 * points to it, until nothing changes.
 */
static void spread(const struct heap *heap, struct model *model, enum mark kind,
		   bool (*points)[BLOCKS_MAX])
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < heap->cnt; i++)
			for (uint32_t j = 0; model->kinds[i] >= kind && j < heap->cnt; j++)
				if (points[i][j] && model->kinds[j] < kind) {
					model->kinds[j] = (uint8_t)kind;
					again = true;
				}
	}
}

static void close_hanging(const struct heap *heap, struct model *model)
{
	for (uint32_t i = 0; i < heap->cnt; i++)
		for (uint32_t j = 0; j < heap->cnt; j++)
			model->hangs[i][j] =
				model->points[i][j] && !model->kinds[i] && !model->kinds[j];
	for (uint32_t k = 0; k < heap->cnt; k++)
		for (uint32_t i = 0; i < heap->cnt; i++)
			for (uint32_t j = 0; j < heap->cnt; j++)
				model->hangs[i][j] |= model->hangs[i][k] && model->hangs[k][j];
}

static void solve(const struct heap *heap, struct model *model)
{
	for (uint32_t i = 0; i < heap->cnt; i++)
		if (model->root_begins[i] || !heap_block_is_judged(&heap->blocks[i]))
			model->kinds[i] = MARK_REACHABLE;
	spread(heap, model, MARK_REACHABLE, model->begins);
	for (uint32_t i = 0; i < heap->cnt; i++)
		if (model->root_points[i] && !model->kinds[i])
			model->kinds[i] = MARK_POSSIBLE;
	spread(heap, model, MARK_POSSIBLE, model->points);
	close_hanging(heap, model);
	for (uint32_t i = 0; i < heap->cnt; i++)
		for (uint32_t j = 0; j < heap->cnt; j++)
			if (model->hangs[j][i] && (!model->hangs[i][j] || j < i))
				model->kinds[i] = MARK_INDIRECT;
}

/*
 * Checks the holder of a block. A definitely lost block is its own holder. An indirectly lost block
 * is held by a definitely lost block that leads to it. Another block is held by a root that points
 * to it, or by a block that points to it and has at least its mark. Only a block that is not judged
 * may have no holder.
 */
static void check_holder(const struct heap *heap, const struct model *model,
			 const struct marks *marks, uint32_t at)
{
	uint32_t holder = marks->holders[at];
	uint64_t slot;

	if (model->kinds[at] == MARK_DEFINITE) {
		assert_int_equal(holder, at);
	} else if (model->kinds[at] == MARK_INDIRECT) {
		assert_int_equal(model->kinds[holder], MARK_DEFINITE);
		assert_true(model->hangs[holder][at]);
	} else if (holder == NO_BLOCK) {
		assert_false(heap_block_is_judged(&heap->blocks[at]));
	} else if (holder & MARKS_SLOT) {
		slot = marks->slots[holder & ~MARKS_SLOT];
		assert_true(model->root_points[at]);
		assert_true(slot == HOLDER_IS_WORD ||
			    (slot >= heap->range.start && slot < heap->late.end));
	} else {
		assert_true(model->points[holder][at]);
		assert_true(model->kinds[holder] >= model->kinds[at]);
	}
}

static struct roots roots_of(const struct heap *heap)
{
	return (struct roots){
		.ranges = &heap->range,
		.range_cnt = 1,
		.words = &heap->registers,
		.words_cnt = 1,
		.late_ranges = &heap->late,
		.late_range_cnt = 1,
	};
}

static void check_heap(uint64_t seed, size_t worker_cnt)
{
	struct heap heap;
	struct model model;
	struct block_index index;
	struct marking_request request = {.worker_cnt = worker_cnt};
	struct marks marks;

	make_heap(&heap, seed);
	read_model(&heap, &model);
	solve(&heap, &model);
	assert_int_equal(block_index_init(heap.blocks, heap.cnt, &index), 0);
	request.memory = &heap.fake.memory;
	request.index = &index;
	request.roots = roots_of(&heap);
	assert_int_equal(marking_run(&request, &marks), 0);
	for (uint32_t i = 0; i < heap.cnt; i++) {
		if (marks.kinds[i] != model.kinds[i])
			print_message("seed %zu: block %u of %u\n", (size_t)seed, i, heap.cnt);
		assert_int_equal(marks.kinds[i], model.kinds[i]);
		check_holder(&heap, &model, &marks, i);
	}
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&heap.fake);
}

static void heaps_agree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= HEAPS; seed++)
		check_heap(seed, 1 + seed % 3);
}

/* Blocks of a large heap, enough for several threads */
#define MANY 200000
static void many_blocks(void **state)
{
	struct fake_memory fake;
	struct heap_block *blocks = calloc(MANY, sizeof(*blocks));
	struct block_index index;
	struct marking_request request = {.worker_cnt = 4};
	struct root_range range = {BASE, BASE + 8};
	struct marks marks;
	uint64_t seed = 1, lost = 0;

	(void)state;
	/*
	 * The first block is a table of pointers to nine of ten blocks in the first half of all
	 * blocks. Each block in the first half points to one block in the second half.
	 */
	fake_memory_init(&fake, BASE, 2 + MANY + 4 * MANY + 2);
	fake.words[0] = BASE + 16;
	blocks[0] = (struct heap_block){BASE + 16, MANY / 2 * 8, 0};
	for (uint32_t i = 1; i < MANY; i++)
		blocks[i] = (struct heap_block){BASE + 16 + MANY * 8ULL + 32ULL * i, 24, 0};
	for (uint32_t i = 0; i < MANY / 2; i++) {
		uint32_t half = MANY / 2 - 1;

		if (i % 10 && i)
			*fake_memory_at(&fake, BASE + 16 + 8 * i) = blocks[i].addr;
		else
			lost += i > 0;
		if (i && i <= half)
			*fake_memory_at(&fake, blocks[i].addr + 8 * random_below(&seed, 3)) =
				blocks[half + i].addr;
	}
	assert_int_equal(block_index_init(blocks, MANY, &index), 0);
	request.memory = &fake.memory;
	request.index = &index;
	request.roots = (struct roots){.ranges = &range, .range_cnt = 1};
	assert_int_equal(marking_run(&request, &marks), 0);
	for (uint32_t i = 1; i < MANY / 2; i++) {
		enum mark wanted = i % 10 ? MARK_REACHABLE : MARK_DEFINITE;

		assert_int_equal(marks.kinds[i], wanted);
		assert_int_equal(marks.kinds[MANY / 2 - 1 + i],
				 i % 10 ? MARK_REACHABLE : MARK_INDIRECT);
		if (i % 10 == 0)
			assert_int_equal(marks.holders[MANY / 2 - 1 + i], i);
	}
	assert_int_equal(lost, (MANY / 2 - 1) / 10);
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&fake);
	free(blocks);
}

/*
 * Marks a long list whose elements are in shuffled order in memory. A recursive search would
 * overflow its stack.
 */
static void long_list(void **state)
{
	struct fake_memory fake;
	struct heap_block *blocks = calloc(MANY, sizeof(*blocks));
	struct block_index index;
	struct marking_request request = {.worker_cnt = 2};
	struct root_range range = {BASE, BASE + 8};
	struct marks marks;

	(void)state;
	fake_memory_init(&fake, BASE, 2 + 4 * MANY);
	for (uint32_t i = 0; i < MANY; i++)
		blocks[i] = (struct heap_block){BASE + 16 + 32ULL * i, 24, 0};
	fake.words[0] = blocks[0].addr;
	/* MANY is no multiple of the prime number 7919, so the list reaches all blocks. */
	for (uint64_t i = 0, at = 0; i < MANY - 1; i++) {
		uint64_t next = (at + 7919) % MANY;

		*fake_memory_at(&fake, blocks[at].addr + 8) = blocks[next].addr;
		at = next;
	}
	assert_int_equal(block_index_init(blocks, MANY, &index), 0);
	request.memory = &fake.memory;
	request.index = &index;
	request.roots = (struct roots){.ranges = &range, .range_cnt = 1};
	assert_int_equal(marking_run(&request, &marks), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(marks.kinds[i], MARK_REACHABLE);
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&fake);
	free(blocks);
}

static bool stop_at_once(void *arg)
{
	return true;
}

static void stops_on_request(void **state)
{
	struct heap heap;
	struct block_index index;
	struct marking_request request = {.worker_cnt = 2, .stop = stop_at_once};
	struct marks marks;

	(void)state;
	make_heap(&heap, 7);
	assert_int_equal(block_index_init(heap.blocks, heap.cnt, &index), 0);
	request.memory = &heap.fake.memory;
	request.index = &index;
	request.roots = roots_of(&heap);
	assert_int_equal(marking_run(&request, &marks), -ECANCELED);
	block_index_deinit(&index);
	fake_memory_deinit(&heap.fake);
}

/* A large block is read in pieces, and its unreadable parts are skipped. */
static void large_block_with_hole(void **state)
{
	const uint64_t large = 5 << 20;
	struct fake_memory fake;
	struct heap_block blocks[] = {
		{BASE + 16, (uint32_t)large, 0},
		{BASE + 16 + large + 16, 24, 0},
		{BASE + 16 + large + 48, 24, 0},
	};
	struct block_index index;
	struct marking_request request = {.worker_cnt = 2};
	struct root_range range = {BASE, BASE + 8};
	struct marks marks;

	(void)state;
	fake_memory_init(&fake, BASE, large / 8 + 32);
	fake.words[0] = blocks[0].addr;
	fake.hole_start = BASE + (1 << 20);
	fake.hole_end = BASE + (2 << 20);
	*fake_memory_at(&fake, BASE + (1 << 20) + 800) = blocks[1].addr;
	*fake_memory_at(&fake, BASE + (4 << 20) + 800) = blocks[2].addr;
	assert_int_equal(block_index_init(blocks, 3, &index), 0);
	request.memory = &fake.memory;
	request.index = &index;
	request.roots = (struct roots){.ranges = &range, .range_cnt = 1};
	assert_int_equal(marking_run(&request, &marks), 0);
	assert_int_equal(marks.kinds[0], MARK_REACHABLE);
	assert_int_equal(marks.kinds[1], MARK_DEFINITE);
	assert_int_equal(marks.kinds[2], MARK_REACHABLE);
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&fake);
}

/*
 * Pointers in code may be unaligned. They are found even if they lie across two pieces that are
 * read separately, or next to unreadable memory.
 */
static void pointers_in_code(void **state)
{
	static const uint64_t slots[] = {
		BASE + 1,
		BASE + (1 << 18) - 7, /* pointer across a 256 KiB boundary */
		BASE + (1 << 18) + 4,
		BASE + (1 << 20) - 1, /* pointer that begins in one piece and ends in the next */
		BASE + (2 << 20) - 8, /* pointer right before the hole */
		BASE + (2 << 20) + 4096 + 3,
		BASE + (3 << 20) - 8, /* pointer right before the end of the code */
	};
	const uint64_t behind = BASE + (3 << 20);
	const uint32_t cnt = (sizeof(slots) / sizeof(*slots));
	struct heap_block blocks[(sizeof(slots) / sizeof(*slots)) + 1];
	struct fake_memory fake;
	struct block_index index;
	struct marking_request request = {.worker_cnt = 2};
	struct root_range code = {BASE, behind};
	struct marks marks;

	(void)state;
	fake_memory_init(&fake, BASE, ((3 << 20) + 4096) / 8);
	fake.hole_start = BASE + (2 << 20);
	fake.hole_end = BASE + (2 << 20) + 4096;
	for (uint32_t i = 0; i <= cnt; i++)
		blocks[i] = (struct heap_block){behind + 64 + 32ULL * i, 24, 0};
	for (uint32_t i = 0; i < cnt; i++)
		memcpy((char *)fake.words + (slots[i] - BASE), &blocks[i].addr, 8);
	/* A pointer that lies partly after the end of the code is not found. */
	memcpy((char *)fake.words + (behind - 4 - BASE) + 8, &blocks[cnt].addr, 8);
	assert_int_equal(block_index_init(blocks, cnt + 1, &index), 0);
	request.memory = &fake.memory;
	request.index = &index;
	request.roots = (struct roots){.code_ranges = &code, .code_range_cnt = 1};
	assert_int_equal(marking_run(&request, &marks), 0);
	for (uint32_t i = 0; i < cnt; i++) {
		assert_int_equal(marks.kinds[i], MARK_REACHABLE);
		assert_int_equal(marks.slots[marks.holders[i] & ~MARKS_SLOT], slots[i]);
	}
	assert_int_equal(marks.kinds[cnt], MARK_DEFINITE);
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&fake);
}

/*
 * Makes a block that begins with `first` and `second`, and a root that points to an offset in the
 * block. Returns the block's mark.
 */
static enum mark mark_of(uint32_t size, uint64_t offset, uint64_t first, uint64_t second)
{
	struct fake_memory fake;
	struct heap_block block = {BASE + 4096, size, 0};
	struct block_index index;
	struct marking_request request = {.worker_cnt = 1};
	struct root_range range = {BASE, BASE + 8};
	struct marks marks;
	enum mark mark;

	fake_memory_init(&fake, BASE, 2048);
	fake.words[0] = block.addr + offset;
	*fake_memory_at(&fake, block.addr) = first;
	*fake_memory_at(&fake, block.addr + 8) = second;
	/* A C++ vtable of a base class at offset 32 of the object. */
	*fake_memory_at(&fake, BASE + 2048) = (uint64_t)-32;
	*fake_memory_at(&fake, block.addr + 32) = BASE + 2064;
	assert_int_equal(block_index_init(&block, 1, &index), 0);
	request.memory = &fake.memory;
	request.index = &index;
	request.roots = (struct roots){.ranges = &range, .range_cnt = 1};
	assert_int_equal(marking_run(&request, &marks), 0);
	mark = marks.kinds[0];
	marks_deinit(&marks);
	block_index_deinit(&index);
	fake_memory_deinit(&fake);
	return mark;
}

static void interior_pointers(void **state)
{
	(void)state;
	assert_int_equal(mark_of(100, 0, 0, 0), MARK_REACHABLE);
	assert_int_equal(mark_of(100, 5, 0, 0), MARK_REACHABLE); /* a tagged pointer to the start */
	assert_int_equal(mark_of(100, 40, 0, 0), MARK_POSSIBLE);
	assert_int_equal(mark_of(100, 100, 0, 0), MARK_DEFINITE);
	assert_int_equal(mark_of(0, 0, 0, 0), MARK_REACHABLE);
	/*
	 * A pointer right after an array's element count is treated as a pointer to the block's
	 * start, unless the count is wrong.
	 */
	assert_int_equal(mark_of(8 + 3 * 24, 8, 3, 0), MARK_REACHABLE);
	assert_int_equal(mark_of(8 + 3 * 24, 8, 7, 0), MARK_POSSIBLE);
	assert_int_equal(mark_of(16 + 3 * 32, 16, 0, 3), MARK_REACHABLE);
	/*
	 * If a block consists only of the element count 0, a pointer just past its end points to an
	 * empty array. With any other count, this pointer is ignored.
	 */
	assert_int_equal(mark_of(8, 8, 0, 0), MARK_REACHABLE);
	assert_int_equal(mark_of(8, 8, 1, 0), MARK_DEFINITE);
	/*
	 * A pointer right after a header is treated as a pointer to the block's start if the
	 * header contains the size of the data that follows.
	 */
	assert_int_equal(mark_of(108, 8, 100, 0), MARK_REACHABLE);
	assert_int_equal(mark_of(108, 8, 99, 0), MARK_POSSIBLE);
	/*
	 * A pointer to the characters of a string of length 5 and capacity 15 is treated as a
	 * pointer to the block's start, unless the length is impossible.
	 */
	assert_int_equal(mark_of(24 + 15 + 1, 24, 5, 15), MARK_REACHABLE);
	assert_int_equal(mark_of(24 + 15 + 1, 24, 16, 15), MARK_POSSIBLE);
	/*
	 * A pointer to a base class within an object is treated as a pointer to the block's start.
	 * A pointer to an offset without a base class is not.
	 */
	assert_int_equal(mark_of(100, 32, 0, 0), MARK_REACHABLE);
	assert_int_equal(mark_of(100, 48, 0, 0), MARK_POSSIBLE);
}

/* Returns the index of the block that contains addr, or NO_BLOCK. */
static uint32_t find_block(const struct block_index *index, uint64_t addr, size_t *cluster)
{
	size_t grain = block_index_grain(index, addr, cluster);
	uint32_t block;

	if (grain == NO_GRAIN)
		return NO_BLOCK;
	block = block_index_in_grain(index, grain, addr);
	return block < index->cnt && index->blocks[block].addr <= addr ? block : NO_BLOCK;
}

static void finds_blocks(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (size_t turn = 0; turn < 200; turn++) {
		struct heap_block blocks[64];
		struct block_index index;
		uint64_t at = 1 << 20;
		size_t cluster = 0;
		uint32_t cnt = (uint32_t)random_below(&seed, 64) + 1;

		for (uint32_t i = 0; i < cnt; i++) {
			at += random_below(&seed, 4) ? random_below(&seed, 40)
						     : random_below(&seed, 4 << 20);
			blocks[i] = (struct heap_block){at, (uint32_t)random_below(&seed, 9000), 0};
			at += blocks[i].size + 1;
		}
		assert_int_equal(block_index_init(blocks, cnt, &index), 0);
		for (size_t i = 0; i < 2000; i++) {
			uint64_t addr = random_below(&seed, at + 10000);
			uint32_t wanted = NO_BLOCK, from = cnt;

			for (uint32_t j = cnt; j-- > 0;) {
				uint32_t size = blocks[j].size ? blocks[j].size : 1;

				if (addr >= blocks[j].addr && addr - blocks[j].addr < size)
					wanted = j;
				if (blocks[j].addr + size > addr)
					from = j;
			}
			assert_int_equal(find_block(&index, addr, &cluster), wanted);
			assert_int_equal(block_index_from(&index, addr), from);
		}
		block_index_deinit(&index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_blocks),     cmocka_unit_test(heaps_agree),
		cmocka_unit_test(many_blocks),      cmocka_unit_test(long_list),
		cmocka_unit_test(stops_on_request), cmocka_unit_test(large_block_with_hole),
		cmocka_unit_test(pointers_in_code), cmocka_unit_test(interior_pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
