// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests walking the chunks of a glibc heap that changes before or during the walk, in fake memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "proof/free_lists.h"
#include "proof/heap_map.h"
#include "tests/unit/proof/fake_memory.h"

#define BASE 0x4000000UL
#define START (BASE + 0x40)
#define LIMIT (BASE + 0x2000)
#define SIZE 0x400UL

static void put_chunk(struct fake_memory *fake, uint64_t addr, uint64_t size)
{
	*fake_memory_at(fake, addr + 8) = size | CHUNK_PREV_USED | CHUNK_OTHER_ARENA;
}

/* Makes a heap that begins with three used chunks. Returns the address after them. */
static uint64_t make_heap(struct fake_memory *fake)
{
	uint64_t addr = START;

	fake_memory_init(fake, BASE, (LIMIT - BASE) / sizeof(uint64_t));
	for (size_t i = 0; i < 3; i++, addr += SIZE)
		put_chunk(fake, addr, SIZE);
	return addr;
}

/* Checks that a walk ends at `tail`, or fails if `err` is set. */
static void check_walk(struct fake_memory *fake, enum heap_end end, bool changes, int err,
		       uint64_t tail, bool is_top)
{
	struct heap_map map = {.start = START, .info = BASE};
	struct heap_reader reader;

	fake->memory.changes = changes;
	assert_int_equal(heap_reader_init(&reader, &fake->memory), 0);
	assert_int_equal(heap_map_walk(&map, &reader, end, LIMIT) != 0, err);
	if (!err) {
		assert_int_equal(map.tail, tail);
		assert_int_equal(map.is_top, is_top);
		assert_false(map.torn);
	}
	heap_map_deinit(&map);
	heap_reader_deinit(&reader);
}

/*
 * The heap had the top chunk of its arena, but now ends with end marks: the arena has a newer heap.
 * This is accepted only if memory may change during the walk.
 */
static void test_newer_heap(void **state)
{
	struct fake_memory fake;
	uint64_t addr = make_heap(&fake), tail = LIMIT - 2 * CHUNK_HEADER;

	put_chunk(&fake, addr, tail - addr);
	*fake_memory_at(&fake, tail + 8) = CHUNK_HEADER | CHUNK_PREV_USED;
	*fake_memory_at(&fake, tail + CHUNK_HEADER + 8) = CHUNK_PREV_USED;
	check_walk(&fake, HEAP_END_MARK, false, 0, tail, false);
	check_walk(&fake, HEAP_END_TOP, true, 0, tail, false);
	check_walk(&fake, HEAP_END_TOP, false, 1, 0, false);
	fake_memory_deinit(&fake);
}

/*
 * The newest heap was unmapped, so an older heap has the top chunk again. This is accepted only if
 * memory may change during the walk.
 */
static void test_older_heap(void **state)
{
	struct fake_memory fake;
	uint64_t addr = make_heap(&fake);

	put_chunk(&fake, addr, LIMIT - addr);
	check_walk(&fake, HEAP_END_TOP, false, 0, addr, true);
	check_walk(&fake, HEAP_END_MARK, true, 0, addr, true);
	check_walk(&fake, HEAP_END_MARK, false, 1, 0, false);
	fake_memory_deinit(&fake);
}

/*
 * The second chunk says that the first one is free, but the first one was still used when it was
 * read. This is an error, unless memory may change and the heap has a heap_info.
 */
static void test_early_change(void **state)
{
	for (size_t changes = 0; changes < 2; changes++)
		for (size_t known = 0; known < 2; known++) {
			struct fake_memory fake;
			struct heap_map map = {.start = START, .info = known ? BASE : 0};
			struct heap_reader reader;
			uint64_t addr = make_heap(&fake);

			put_chunk(&fake, addr, LIMIT - addr);
			*fake_memory_at(&fake, START + SIZE + 8) = SIZE | CHUNK_OTHER_ARENA;
			fake.memory.changes = changes;
			assert_int_equal(heap_reader_init(&reader, &fake.memory), 0);
			if (changes && known) {
				assert_int_equal(heap_map_walk(&map, &reader, HEAP_END_TOP, LIMIT),
						 0);
				assert_true(map.torn);
				assert_int_equal(map.tail, addr);
			} else {
				assert_int_equal(heap_map_walk(&map, &reader, HEAP_END_TOP, LIMIT),
						 -EILSEQ);
			}
			heap_map_deinit(&map);
			heap_reader_deinit(&reader);
			fake_memory_deinit(&fake);
		}
}

/*
 * A heap that has grown is read only up to the limit, where the listed mapping ends. Its top chunk
 * or a used chunk ends at the limit or beyond it.
 */
static void test_cut(void **state)
{
	for (size_t i = 0; i < 4; i++) {
		struct fake_memory fake;
		struct heap_map map = {.start = START, .info = BASE};
		struct heap_reader reader;
		uint64_t addr = make_heap(&fake);
		bool used = i % 2;

		fake.memory.changes = true;
		put_chunk(&fake, addr, LIMIT + i / 2 * 0x1000 - addr);
		if (!used)
			*fake_memory_at(&fake, addr + 8) &= ~(uint64_t)CHUNK_OTHER_ARENA;
		assert_int_equal(heap_reader_init(&reader, &fake.memory), 0);
		assert_int_equal(heap_map_walk(&map, &reader, HEAP_END_CUT, LIMIT), 0);
		assert_int_equal(map.is_top, !used);
		assert_int_equal(map.torn, used);
		assert_int_equal(map.gap_cnt, used);
		assert_int_equal(map.tail, used ? LIMIT : addr);
		assert_false(heap_map_is_gap(&map, addr - 1));
		assert_int_equal(heap_map_is_gap(&map, addr), used);
		assert_int_equal(heap_map_is_gap(&map, LIMIT - 1), used);
		heap_map_deinit(&map);
		heap_reader_deinit(&reader);
		fake_memory_deinit(&fake);
	}
}

/*
 * A heap that has grown is read only up to the limit: a chunk there that looks like an end mark
 * must not be taken for one.
 */
static void test_cut_mark(void **state)
{
	struct fake_memory fake;
	struct heap_map map = {.start = START, .info = BASE};
	struct heap_reader reader;
	uint64_t addr = make_heap(&fake);

	fake.memory.changes = true;
	put_chunk(&fake, addr, LIMIT - CHUNK_HEADER - addr);
	put_chunk(&fake, LIMIT - CHUNK_HEADER, 0);
	assert_int_equal(heap_reader_init(&reader, &fake.memory), 0);
	assert_int_equal(heap_map_walk(&map, &reader, HEAP_END_CUT, LIMIT), 0);
	assert_int_equal(map.gap_cnt, 1);
	assert_int_equal(map.tail, LIMIT);
	heap_map_deinit(&map);
	heap_reader_deinit(&reader);
	fake_memory_deinit(&fake);
}

#define SMALL 0x40UL

/* Makes a heap with a gap: a chunk of a wrong size. Returns the gap. */
static uint64_t make_gap(struct fake_memory *fake)
{
	uint64_t gap = make_heap(fake), addr = gap;

	for (; addr < gap + 40 * SMALL; addr += SMALL)
		put_chunk(fake, addr, SMALL);
	put_chunk(fake, addr, LIMIT - addr);
	*fake_memory_at(fake, gap + 8) = 3;
	fake->memory.changes = true;
	return gap;
}

/* A free list that leads through a gap is still followed. */
static void test_gap(void **state)
{
	struct fake_memory fake;
	struct heap_map map = {.start = START, .info = BASE};
	struct heap_set set = {.maps = &map, .cnt = 1};
	struct heap_reader reader;
	struct free_lists lists;
	uint64_t gap = make_gap(&fake), last = gap + 30 * SMALL;

	*fake_memory_at(&fake, last + CHUNK_HEADER) = gap + CHUNK_ALIGN;
	*fake_memory_at(&fake, gap + CHUNK_ALIGN + CHUNK_HEADER) = gap + SMALL;
	assert_int_equal(heap_reader_init(&reader, &fake.memory), 0);
	assert_int_equal(heap_map_walk(&map, &reader, HEAP_END_TOP, LIMIT), 0);
	assert_true(map.torn);
	assert_int_equal(map.gap_cnt, 1);
	assert_int_equal(map.gaps[0], gap);
	assert_true(heap_map_is_gap(&map, gap + SMALL - 1));
	assert_false(heap_map_is_gap(&map, gap + SMALL));
	free_lists_init(&lists, &reader, &set);
	free_lists_mark_fast(&lists, last, SMALL);
	assert_true(heap_map_is_free(&map, last));
	assert_true(heap_map_is_free(&map, gap + SMALL));
	free_lists_deinit(&lists);
	heap_map_deinit(&map);
	heap_reader_deinit(&reader);
	fake_memory_deinit(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer_heap),   cmocka_unit_test(test_older_heap),
		cmocka_unit_test(test_early_change), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_mark),     cmocka_unit_test(test_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
