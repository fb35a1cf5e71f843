// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding frames on a stack that cannot be walked: no helper may be started. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/unwind.h"
#include "proof/arch.h"
#include "proof/frame_finder.h"
#include "tests/unit/proof/fake_memory.h"

#define BASE 0x7ff000000000ULL
#define PAGES 64ULL
#define END (BASE + PAGES * 4096)
#define SP (BASE + 4096)

struct world {
	struct fake_memory fake;
	uint64_t registers[128];
	struct thread_state thread;
	struct heap_picture picture;
	struct frame_finder finder;
};

static void begin(struct world *world)
{
	*world = (struct world){
		.thread = {.tid = getpid(), .known = true, .has_registers = true, .sp = SP}};
	fake_memory_init(&world->fake, BASE, PAGES * 4096 / 8);
	world->thread.words = world->registers;
	world->thread.word_cnt = registers_word_cnt;
	world->picture = (struct heap_picture){.memory = &world->fake.memory, .pid = getpid()};
	for (uint64_t i = 0; i < world->fake.cnt; i++)
		world->fake.words[i] = i;
	frame_finder_begin(&world->finder);
}

static void end(struct world *world)
{
	frame_finder_deinit(&world->finder);
	fake_memory_deinit(&world->fake);
}

/* Checks that nothing is found and no walk was started. */
static void check_nothing(struct world *world, uint64_t slot)
{
	assert_int_equal(frame_finder_find(&world->finder, &world->picture, &world->thread, slot),
			 0);
	assert_int_equal(world->finder.cnt, 0);
}

static void test_slots(void **state)
{
	struct world world;

	begin(&world);
	/*
	 * Addresses outside of memory, across the end of memory, or too far above the stack
	 * pointer.
	 */
	check_nothing(&world, BASE - 8);
	check_nothing(&world, END);
	check_nothing(&world, END - 4);
	check_nothing(&world, UINT64_MAX);
	check_nothing(&world, UINT64_MAX - 7);
	check_nothing(&world, 0);
	check_nothing(&world, SP + UNWIND_COPY_BYTES);
	end(&world);
}

static void test_stack_pointers(void **state)
{
	static const uint64_t sps[] = {0,      1, BASE - 4096, END, UINT64_MAX, UINT64_MAX - 4096,
				       END + 8};
	struct world world;

	for (size_t i = 0; i < sizeof(sps) / sizeof(sps[0]); i++) {
		begin(&world);
		world.thread.sp = sps[i];
		check_nothing(&world, SP + 64);
		end(&world);
	}
}

static bool lasts_not(void *arg)
{
	return false;
}

static void test_nothing_to_walk(void **state)
{
	struct world world;

	begin(&world);
	world.thread.has_registers = false;
	check_nothing(&world, SP + 64);
	world.thread.has_registers = true;
	world.picture.lasts = lasts_not;
	check_nothing(&world, SP + 64);
	world.picture.lasts = NULL;
	world.fake.err = -ESRCH;
	check_nothing(&world, SP + 64);
	end(&world);
}

/* Asks about an ended process, more often than the maximum number of walks: no walk is counted. */
static void test_no_process(void **state)
{
	struct world world;

	begin(&world);
	world.picture.pid = -1;
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(
			frame_finder_find(&world.finder, &world.picture, &world.thread, SP + 64),
			0);
	assert_int_equal(world.finder.walker.cnt, 0);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_stack_pointers),
		cmocka_unit_test(test_nothing_to_walk),
		cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
