// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests retracing how a block is reachable, backwards through memory whose blocks are unknown. The
 * memory is fake, and some of it is hostile.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proof/retrace.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/proof/fake_memory.h"

#define PAGE 4096ULL
#define BASE 0x555500000000ULL
#define GLOBALS BASE
#define HEAP (BASE + 2 * PAGE)
#define OTHER (BASE + 5 * PAGE)
#define STACK (BASE + 7 * PAGE)
#define PAGES 8

/* Traced heap block */
#define BLOCK (HEAP + 0x100)
#define BLOCK_BYTES 64
/* Start addresses of blocks that memleak does not know */
#define FIRST (HEAP + 0x800)
#define SECOND (OTHER + 0x40)

struct world {
	struct fake_memory fake;
	struct mapping mappings[4];
	struct thread_state thread;
	struct thread_states threads;
	struct heap_block block;
	uint8_t kind;
	uint32_t holder;
	uint64_t slot;
	struct heap_proof proof;
	struct heap_picture picture;
	struct retrace retrace;
	bool lasts;
};

static bool lasts(void *arg)
{
	return ((struct world *)arg)->lasts;
}

static int set_up(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	fake_memory_init(&world->fake, BASE, PAGES * PAGE / 8);
	world->mappings[0] = (struct mapping){
		.start = GLOBALS, .end = GLOBALS + PAGE, .writable = true, .path = "/bin/program"};
	world->mappings[1] = (struct mapping){
		.start = HEAP, .end = HEAP + 2 * PAGE, .writable = true, .path = "[heap]"};
	world->mappings[2] =
		(struct mapping){.start = OTHER, .end = OTHER + PAGE, .writable = true, .path = ""};
	world->mappings[3] = (struct mapping){
		.start = STACK, .end = STACK + PAGE, .writable = true, .path = "[stack]"};
	world->fake.memory.maps = (struct proc_maps){.mappings = world->mappings, .cnt = 4};
	world->thread = (struct thread_state){.tid = 1, .sp = STACK + 0x400, .known = true};
	world->threads = (struct thread_states){.items = &world->thread, .cnt = 1};
	world->block = (struct heap_block){.addr = BLOCK, .size = BLOCK_BYTES};
	world->kind = MARK_REACHABLE;
	world->holder = MARKS_SLOT;
	world->slot = FIRST + 24;
	world->proof = (struct heap_proof){
		.blocks = &world->block,
		.cnt = 1,
		/* Retracing may take as long as the proof took. */
		.took_ns = PATIENCE_NS,
		.marks = {.kinds = &world->kind, .holders = &world->holder, .slots = &world->slot}};
	world->lasts = true;
	world->picture = (struct heap_picture){.memory = &world->fake.memory,
					       .threads = &world->threads,
					       .lasts = lasts,
					       .arg = world};
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	retrace_deinit(&world->retrace);
	fake_memory_deinit(&world->fake);
	free(world);
	return 0;
}

static void put(struct world *world, uint64_t slot, uint64_t word)
{
	*fake_memory_at(&world->fake, slot) = word;
}

/*
 * Searches for a path from the known block to a root. Returns the place nearest to the block, or
 * NULL.
 */
static const struct retrace_place *run(struct world *world)
{
	assert_int_equal(retrace_add(&world->retrace, &world->block, world->slot), 0);
	assert_int_equal(retrace_run(&world->retrace, &world->proof, &world->picture), 0);
	return retrace_find(&world->retrace, &world->block, world->slot);
}

/* Makes a path: a variable points to SECOND, SECOND to FIRST, and FIRST to the known block. */
static void put_chain(struct world *world)
{
	put(world, FIRST + 24, BLOCK);
	put(world, SECOND + 8, FIRST);
	put(world, GLOBALS + 16, SECOND);
}

static void check_chain(struct world *world, const struct retrace_place *place)
{
	assert_non_null(place);
	assert_int_equal(place->slot, FIRST + 24);
	place = retrace_next(&world->retrace, place);
	assert_non_null(place);
	assert_int_equal(place->slot, SECOND + 8);
	place = retrace_next(&world->retrace, place);
	assert_non_null(place);
	assert_int_equal(place->slot, GLOBALS + 16);
	assert_null(retrace_next(&world->retrace, place));
}

static void test_chain(void **state)
{
	struct world *world = *state;

	put_chain(world);
	check_chain(world, run(world));
}

/*
 * Any address that is pointed to may be the start of an unknown block. A word belongs to the block
 * that starts closest before it.
 */
static void test_closest_begin(void **state)
{
	struct world *world = *state;

	put_chain(world);
	put(world, GLOBALS + 64, FIRST - 128);
	put(world, GLOBALS + 72, FIRST + 32); /* points past FIRST + 24 */
	put(world, FIRST + 8, FIRST + 8);     /* points to itself, like an empty list */
	check_chain(world, run(world));
}

static void test_nobody(void **state)
{
	struct world *world = *state;

	put(world, FIRST + 24, BLOCK);
	assert_null(run(world));
}

static void test_circle(void **state)
{
	struct world *world = *state;

	put(world, FIRST + 24, BLOCK);
	put(world, FIRST + 16, SECOND);
	put(world, SECOND + 8, FIRST);
	/* A block points to itself, and a word points to itself. */
	put(world, BLOCK + 8, BLOCK);
	put(world, SECOND + 16, SECOND + 16);
	assert_null(run(world));
}

/*
 * Only the known block points to FIRST. The known block is reachable only through FIRST, or is
 * lost: in both cases there is no path to a root.
 */
static void test_known_block_between(void **state)
{
	struct world *world = *state;

	put(world, FIRST + 24, BLOCK);
	put(world, BLOCK + 8, FIRST);
	assert_null(run(world));
	world->kind = MARK_DEFINITE;
	world->holder = 0;
	retrace_deinit(&world->retrace);
	assert_null(run(world));
}

static void test_freed_memory(void **state)
{
	struct world *world = *state;
	struct root_range heap = {HEAP, HEAP + 2 * PAGE};

	put_chain(world);
	world->proof.heaps = (struct root_ranges){.items = &heap, .cnt = 1};
	/*
	 * In a heap of which all blocks are known, FIRST is no block: there is no path through it.
	 */
	assert_null(retrace_find(&world->retrace, &world->block, 0));
	assert_int_equal(retrace_add(&world->retrace, &world->block, 0), 0);
	assert_int_equal(retrace_run(&world->retrace, &world->proof, &world->picture), 0);
	assert_null(retrace_find(&world->retrace, &world->block, 0));
}

static void test_stack_last(void **state)
{
	struct world *world = *state;
	const struct retrace_place *place;

	put(world, FIRST + 24, BLOCK);
	put(world, STACK + 0x800, FIRST + 8);
	put(world, STACK + 0x100, FIRST + 16); /* below the stack pointer: ignored */
	world->picture.is_python = true;
	place = run(world);
	assert_non_null(place);
	place = retrace_next(&world->retrace, place);
	assert_non_null(place);
	assert_int_equal(place->slot, STACK + 0x800);
}

static void test_stack_too_far(void **state)
{
	struct world *world = *state;

	put(world, FIRST + 24, BLOCK);
	put(world, STACK + 0x800, FIRST + 24 - 520);
	world->picture.is_python = true;
	assert_null(run(world));
}

static void test_unreadable(void **state)
{
	struct world *world = *state;
	const struct retrace_place *place;

	put_chain(world);
	world->fake.hole_start = OTHER;
	world->fake.hole_end = STACK;
	assert_null(run(world));
	retrace_deinit(&world->retrace);
	/* Memory after an unreadable hole is searched as well. */
	world->fake.hole_start = HEAP;
	world->fake.hole_end = HEAP + PAGE;
	put(world, SECOND + 8, 0);
	put(world, HEAP + PAGE + 8, FIRST);
	put(world, GLOBALS + 24, HEAP + PAGE);
	place = run(world);
	assert_non_null(place);
	assert_int_equal(place->slot, HEAP + PAGE + 8);
	place = retrace_next(&world->retrace, place);
	assert_non_null(place);
	assert_int_equal(place->slot, GLOBALS + 24);
}

static void test_process_ends(void **state)
{
	struct world *world = *state;

	put_chain(world);
	world->fake.err = -ESRCH;
	assert_null(run(world));
}

static void test_memory_changes(void **state)
{
	struct world *world = *state;

	put_chain(world);
	world->lasts = false;
	assert_null(run(world));
	assert_int_equal(world->fake.reads, 0);
}

/* Every word of memory is a pointer: the search must end, and no path may be circular. */
static void check_full_of_pointers(struct world *world)
{
	uint64_t all = (uint64_t)world->fake.cnt;

	for (uint64_t i = 0; i < all; i++)
		world->fake.words[i] = BASE + i * 40503 % all * 8;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(retrace_add(&world->retrace, NULL, HEAP + i * 8), 0);
	assert_true(world->retrace.cnt < 1000);
	assert_int_equal(retrace_run(&world->retrace, &world->proof, &world->picture), 0);
	for (size_t i = 0; i < world->retrace.cnt; i++) {
		const struct retrace_place *place = &world->retrace.places[i];
		size_t steps = 0;

		for (; place && place->is_rooted; place = retrace_next(&world->retrace, place))
			assert_true(steps++ < world->retrace.cnt);
	}
}

static void test_full_of_pointers(void **state)
{
	check_full_of_pointers(*state);
}

/*
 * Each of many places is held by the next one, and the last one by a variable. The search reaches
 * the last place first. Even so, each holder in a Python program must be read only once.
 */
static void test_long_way(void **state)
{
	struct world *world = *state;
	const struct retrace_place *place;
	size_t cnt = 200, steps = 0;

	world->picture.is_python = true;
	for (uint64_t i = 0; i < cnt; i++) {
		uint64_t begin = HEAP + 0x200 + i * 32;

		put(world, begin + 32 + 8, begin);
		assert_int_equal(retrace_add(&world->retrace, NULL, begin + 8), 0);
	}
	put(world, GLOBALS + 8, HEAP + 0x200 + cnt * 32);
	assert_int_equal(retrace_add(&world->retrace, NULL, HEAP + 0x200 + cnt * 32 + 8), 0);
	assert_int_equal(retrace_run(&world->retrace, &world->proof, &world->picture), 0);
	place = retrace_find(&world->retrace, NULL, HEAP + 0x200 + 8);
	for (; place; place = retrace_next(&world->retrace, place))
		steps++;
	assert_int_equal(steps, cnt + 1);
	assert_true(world->fake.reads < 10 * cnt);
}

/* Computing with addresses at the ends of the address space must not overflow. */
static void test_odd_places(void **state)
{
	struct world *world = *state;
	struct heap_block last = {.addr = UINT64_MAX - 7, .size = UINT32_MAX};

	put_chain(world);
	world->picture.is_python = true;
	assert_int_equal(retrace_add(&world->retrace, &last, UINT64_MAX), 0);
	assert_int_equal(retrace_add(&world->retrace, NULL, 1), 0);
	assert_int_equal(retrace_add(&world->retrace, NULL, STACK - 8), 0);
	assert_int_equal(retrace_run(&world->retrace, &world->proof, &world->picture), 0);
	assert_null(retrace_find(&world->retrace, &last, UINT64_MAX));
	assert_null(retrace_find(&world->retrace, NULL, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_closest_begin, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_circle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_known_block_between, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_freed_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stack_last, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stack_too_far, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_process_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_of_pointers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_long_way, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_odd_places, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
