// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes censuses of a heap that has changed since its mappings were listed. With the argument
 * "heap", this program makes the heap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "proof/census.h"
#include "tests/unit/proof/heap_program.h"
#include "tests/unit/proof/made_heap.h"
#include "tests/unit/proof/process_memory.h"

struct stale {
	struct memory memory;
	const struct memory *whole;
	/*
	 * A heap that has shrunk: its start (0 if there is no such heap), its end, and its end
	 * before. The reader does not notice this until it reads between `end` and old_end.
	 */
	uint64_t heap, end, old_end;
	/*
	 * A heap whose heap_info says, after reads_left reads, that the heap is its own
	 * predecessor.
	 */
	uint64_t looping;
	size_t reads_left;
	uint64_t damaged; /* heap whose arena is read as zeros */
};

/* Start and end of the damaged part of the arena: offsets from the start of the heap */
#define ARENA_FROM 64U
#define ARENA_UPTO 2048U

static void damage(const struct stale *stale, uint64_t addr, char *buf, ssize_t len)
{
	uint64_t from = stale->damaged + ARENA_FROM, upto = stale->damaged + ARENA_UPTO;

	for (ssize_t i = 0; stale->damaged && i < len; i++)
		if (addr + (uint64_t)i >= from && addr + (uint64_t)i < upto)
			buf[i] = 0;
}

#define PREVIOUS_AT 8U /* offset in a heap_info of the previous heap's address */

#define SIZE_AT 16U /* offset of the size in a heap_info */

/*
 * If the size in a heap_info was read, replaces it in `buf` by the size before the heap has shrunk.
 */
static void put_old_size(const struct stale *stale, uint64_t addr, char *buf, ssize_t len)
{
	const uint64_t at = stale->heap + SIZE_AT, size = stale->old_end - stale->heap;

	if (stale->heap && addr <= at && len >= (ssize_t)(at + sizeof(size) - addr))
		memcpy(buf + (at - addr), &size, sizeof(size));
}

static ssize_t read_listed(const struct memory *memory, uint64_t addr, void *buf, size_t len)
{
	struct stale *stale = (struct stale *)memory;
	const struct memory *whole = stale->whole;
	const struct mapping *mapping = proc_maps_find(&memory->maps, addr);
	ssize_t got;

	if (!mapping || !mapping->readable)
		return 0;
	if (len > mapping->end - addr)
		len = mapping->end - addr;
	if (addr >= stale->end && addr < stale->old_end) {
		stale->heap = 0;
		memset(buf, 0, len);
		return (ssize_t)len;
	}
	got = whole->ops->read(whole, addr, buf, len);
	put_old_size(stale, addr, buf, got);
	damage(stale, addr, buf, got);
	if (addr == stale->looping && stale->reads_left-- == 0) {
		memcpy((char *)buf + PREVIOUS_AT, &addr, sizeof(addr));
		stale->reads_left = 0;
	}
	return got;
}

static int visit_all(const struct memory *memory, const struct mapping *mapping, uint64_t start,
		     uint64_t end, memory_visit_fn *visit, void *arg)
{
	return visit(arg, start, end);
}

static const struct memory_ops ops = {.read = read_listed, .visit_written = visit_all};

static void begin(struct heap_program *program, char **argv, const char *tunables,
		  struct process_memory *whole, struct stale *stale)
{
	*program = (struct heap_program){0};
	heap_program_start(program, argv, tunables);
	assert_int_equal(process_memory_init(whole, program->pid), 0);
	*stale = (struct stale){.memory = whole->memory, .whole = &whole->memory};
	stale->memory.ops = &ops;
	stale->memory.changes = true;
}

static void end(struct heap_program *program, struct process_memory *whole)
{
	process_memory_deinit(whole);
	heap_program_end(program);
}

static struct census take(const struct memory *memory)
{
	struct census census;

	assert_int_equal(census_take(memory, NULL, NULL, &census), 0);
	assert_int_equal(census.skipped_cnt, 0);
	assert_int_equal(census.unread_cnt, 0);
	return census;
}

static struct mapping *heap_mapping(const struct stale *stale, uint64_t heap)
{
	const struct mapping *mapping = proc_maps_find(&stale->memory.maps, heap);

	assert_int_equal(mapping->start, heap);
	return &stale->memory.maps.mappings[mapping - stale->memory.maps.mappings];
}

/*
 * The heap of a thread's arena has grown since the mappings were listed. It is counted up to the
 * end of its listed mapping, even if only few chunks lie before this end.
 */
static void test_grown(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap", "seed=1", "threads=1", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct mapping *heap;
	struct census census;
	uint64_t pages, tops[16], gaps[16], other_top = UINT64_MAX;

	begin(&program, argv, NULL, &whole, &stale);
	census = take(&whole.memory);
	assert_int_equal(census.heap_cnt, 2);
	heap = heap_mapping(&stale, census.heaps[1].start);
	census_deinit(&census);
	pages = (heap->end - heap->start) / stale.memory.page_size;
	assert_true(pages > 16);
	for (uint64_t i = 1; i < 16; i++) {
		heap->end = heap->start + i * stale.memory.page_size;
		census = take(&stale.memory);
		assert_int_equal(census.arena_cnt, 2);
		assert_int_equal(census.torn_cnt, 1);
		assert_int_equal(census.heap_cnt, 2);
		assert_int_equal(census.heaps[1].end, heap->end);
		gaps[i] = census.gaps.count;
		tops[i] = census.top_bytes;
		if (tops[i] < other_top)
			other_top = tops[i];
		/* The first word of a gap belongs to the chunk before it. */
		assert_int_equal(census.gaps.bytes % 16, census.gaps.count * 8);
		census_deinit(&census);
	}
	/* If a free chunk ends at the limit, it looks like the top chunk, and there is no gap. */
	for (uint64_t i = 1; i < 16; i++)
		assert_int_equal(gaps[i], tops[i] == other_top);
	end(&program, &whole);
}

/*
 * A heap shrinks while it is read: the memory that it has given back must not be taken for blocks.
 */
static void test_shrunk(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap", "seed=1", "threads=1", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct mapping *heap;
	struct census before, after;

	begin(&program, argv, NULL, &whole, &stale);
	before = take(&whole.memory);
	heap = heap_mapping(&stale, before.heaps[1].start);
	stale.heap = heap->start;
	stale.end = before.heaps[1].end;
	stale.old_end = heap->end + 16 * stale.memory.page_size;
	heap[0].end = heap[1].start = stale.old_end;
	after = take(&stale.memory);
	assert_int_equal(stale.heap, 0);
	assert_int_equal(after.torn_cnt, 0);
	assert_int_equal(after.gaps.count, 0);
	assert_int_equal(after.heaps[1].end, stale.end);
	assert_int_equal(after.used.bytes, before.used.bytes);
	assert_int_equal(after.top_bytes, before.top_bytes);
	census_deinit(&before);
	census_deinit(&after);
	end(&program, &whole);
}

/* Returns the newest heap of a thread's arena: the heap that is no other heap's predecessor. */
static uint64_t newest_heap(const struct memory *memory, const struct census *census)
{
	for (size_t i = 0; i < census->heap_cnt; i++) {
		uint64_t heap = census->heaps[i].start, info[2];
		bool is_newest = !census->heaps[i].main;

		for (size_t j = 0; j < census->heap_cnt && is_newest; j++) {
			assert_int_equal(memory->ops->read(memory, census->heaps[j].start, info,
							   sizeof(info)),
					 sizeof(info));
			is_newest = census->heaps[j].main || info[1] != heap;
		}
		if (is_newest)
			return heap;
	}
	fail_msg("there is no heap");
	return 0;
}

/* If an arena's newest heap is not in the list of mappings, its other heaps are still counted. */
static void test_added(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap",        "seed=11",     "threads=1",
			"huge=1",         "slots=20000", "steps=50000", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct census before, after;
	uint64_t newest;

	begin(&program, argv, "glibc.malloc.mmap_threshold=100000000", &whole, &stale);
	before = take(&whole.memory);
	assert_true(before.heap_cnt > 2);
	newest = newest_heap(&whole.memory, &before);
	heap_mapping(&stale, newest)->readable = false;
	after = take(&stale.memory);
	assert_int_equal(after.arena_cnt, before.arena_cnt);
	assert_int_equal(after.torn_cnt, 1);
	assert_int_equal(after.heap_cnt, before.heap_cnt - 1);
	census_deinit(&before);
	census_deinit(&after);
	end(&program, &whole);
}

/* The walk must end even if the heap_info of a heap says that the heap is its own predecessor. */
static void test_loop(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap",        "seed=11",     "threads=1",
			"huge=1",         "slots=20000", "steps=50000", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct census census;
	uint64_t newest;

	begin(&program, argv, "glibc.malloc.mmap_threshold=100000000", &whole, &stale);
	census = take(&whole.memory);
	newest = newest_heap(&whole.memory, &census);
	census_deinit(&census);
	for (size_t reads = 0; reads < 8; reads++) {
		stale.looping = newest;
		stale.reads_left = reads;
		assert_int_equal(census_take(&stale.memory, NULL, NULL, &census), 0);
		assert_int_equal(census.arena_cnt + census.skipped_cnt, 2);
		census_deinit(&census);
	}
	end(&program, &whole);
}

/* If an arena is not in the list of mappings, all other arenas are still counted. */
static void test_new_arena(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap", "seed=1", "threads=4", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct census all;

	begin(&program, argv, NULL, &whole, &stale);
	all = take(&whole.memory);
	assert_int_equal(all.heap_cnt, 5);
	for (size_t i = 1; i < all.heap_cnt; i++) {
		struct mapping *mapping = heap_mapping(&stale, all.heaps[i].start);
		struct census census;

		mapping->readable = false;
		census = take(&stale.memory);
		mapping->readable = true;
		assert_int_equal(census.arena_cnt, 4);
		assert_int_equal(census.heap_cnt, 4);
		assert_int_equal(census.torn_cnt, 0);
		census_deinit(&census);
	}
	census_deinit(&all);
	end(&program, &whole);
}

/* An arena that is in the list of mappings but cannot be read is counted as skipped. */
static void test_unread_arena(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap", "seed=1", "threads=3", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct census census;

	begin(&program, argv, NULL, &whole, &stale);
	census = take(&whole.memory);
	stale.damaged = census.heaps[1].start;
	census_deinit(&census);
	for (size_t changes = 0; changes < 2; changes++) {
		stale.memory.changes = changes;
		assert_int_equal(census_take(&stale.memory, NULL, NULL, &census), 0);
		assert_int_equal(census.arena_cnt, changes ? 3 : 1);
		assert_int_equal(census.skipped_cnt, 1);
		census_deinit(&census);
	}
	end(&program, &whole);
}

/*
 * Lists only the first three pages of the main heap, without the top chunk, as two mappings. The
 * caller must free the new list.
 */
static struct mapping *split_main_heap(struct stale *stale, uint64_t heap)
{
	size_t cnt = stale->memory.maps.cnt, at = 0;
	struct mapping *mappings = calloc(cnt + 1, sizeof(*mappings));
	uint64_t page_size = stale->memory.page_size;

	assert_non_null(mappings);
	memcpy(mappings, stale->memory.maps.mappings, cnt * sizeof(*mappings));
	while (mappings[at].start != heap)
		at++;
	memmove(mappings + at + 1, mappings + at, (cnt - at) * sizeof(*mappings));
	mappings[at].end = heap + page_size;
	mappings[at + 1].start = mappings[at].end;
	mappings[at + 1].end = heap + 3 * page_size;
	stale->memory.maps.mappings = mappings;
	stale->memory.maps.cnt = cnt + 1;
	return mappings;
}

/*
 * The heap of a forked process has grown since the mappings were listed. Memory that the process
 * got by brk() since the fork has a mapping of its own.
 */
static void test_grown_child(void **state)
{
	char *argv[] = {"/proc/self/exe", "heap", "seed=1", NULL};
	struct process_memory whole;
	struct heap_program program;
	struct stale stale;
	struct mapping *mappings;
	struct census census;

	begin(&program, argv, NULL, &whole, &stale);
	census = take(&whole.memory);
	assert_true(census.heaps[0].main);
	mappings = split_main_heap(&stale, census.heaps[0].start & ~(stale.memory.page_size - 1));
	census_deinit(&census);
	census = take(&stale.memory);
	assert_int_equal(census.arena_cnt, 1);
	assert_int_equal(census.torn_cnt, 1);
	census_deinit(&census);
	free(mappings);
	end(&program, &whole);
}

#define LARGE_MAPPINGS 5U
#define LARGE_START (UINT64_C(20) << 40)

/* Adds more memory than is searched. The caller must free the new list. */
static struct mapping *add_large_mappings(struct stale *stale)
{
	size_t cnt = stale->memory.maps.cnt, at = 0;
	struct mapping *mappings = calloc(cnt + LARGE_MAPPINGS, sizeof(*mappings));

	assert_non_null(mappings);
	memcpy(mappings, stale->memory.maps.mappings, cnt * sizeof(*mappings));
	/* Sanitizers use no addresses from LARGE_START on. */
	while (mappings[at].start < LARGE_START)
		at++;
	memmove(mappings + at + LARGE_MAPPINGS, mappings + at, (cnt - at) * sizeof(*mappings));
	for (uint64_t i = 0; i < LARGE_MAPPINGS; i++)
		mappings[at + i] = (struct mapping){.start = LARGE_START + (i << 40),
						    .end = LARGE_START + ((i + 1) << 40),
						    .readable = true,
						    .path = ""};
	stale->memory.maps.mappings = mappings;
	stale->memory.maps.cnt = cnt + LARGE_MAPPINGS;
	return mappings;
}

/*
 * An arena counts as skipped if finding it would need a search through too much memory. The same
 * holds for an arena whose newest heap is not listed, if its other heaps have to be searched for.
 */
static void test_large_mappings(void **state)
{
	char *small[] = {"/proc/self/exe", "heap", "seed=1", "threads=1", NULL};
	char *large[] = {"/proc/self/exe", "heap",        "seed=11",     "threads=1",
			 "huge=1",         "slots=20000", "steps=50000", NULL};
	char **const argvs[] = {small, large};

	for (size_t i = 0; i < 2; i++) {
		struct mapping *mappings;
		struct process_memory whole;
		struct heap_program program;
		struct stale stale;
		struct census census;

		begin(&program, argvs[i], "glibc.malloc.mmap_threshold=100000000", &whole, &stale);
		census = take(&whole.memory);
		heap_mapping(&stale, newest_heap(&whole.memory, &census))->readable = false;
		census_deinit(&census);
		mappings = add_large_mappings(&stale);
		assert_int_equal(census_take(&stale.memory, NULL, NULL, &census), 0);
		assert_int_equal(census.arena_cnt, 1);
		assert_int_equal(census.skipped_cnt, 1);
		census_deinit(&census);
		free(mappings);
		end(&program, &whole);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grown),          cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_added),          cmocka_unit_test(test_loop),
		cmocka_unit_test(test_new_arena),      cmocka_unit_test(test_unread_arena),
		cmocka_unit_test(test_large_mappings), cmocka_unit_test(test_grown_child),
	};

	if (argc >= 2 && !strcmp(argv[1], "heap"))
		return made_heap_main(argc - 1, argv + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
