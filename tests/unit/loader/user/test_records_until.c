// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that a fact read from /proc or from a pidfd is applied only after all records from before
 * the read have arrived.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/user/process_set.h"

#define PAGE 4096

struct world {
	struct user_bpf skel;
	struct user_programs programs;
	struct process_set set;
	struct user_process *process;
};

static void make_world(struct world *world)
{
	*world = (struct world){
		.programs.ctx.skel = &world->skel,
		.set = {.programs = &world->programs, .epoll_fd = -1, .retry_fd = -1},
		.process = calloc(1, sizeof(*world->process)),
	};
	assert_non_null(world->process);
	ranges_init(&world->process->ranges, PAGE, 1ULL << 40);
	world->process->info.image = 1;
	world->process->found = true;
	world->process->attached = true;
	world->process->pidfd = -1;
	assert_int_equal(process_table_add(&world->set.table, world->process), 0);
}

static void set_records_until(struct world *world, uint64_t ns)
{
	world->programs.descendants.records_until_ns = ns;
}

static void ends(void **state)
{
	struct world world;

	(void)state;
	make_world(&world);
	world.process->gone_ns = 10;
	set_records_until(&world, 9);
	process_set_end_gone(&world.set);
	assert_false(world.process->ended);
	set_records_until(&world, 10);
	process_set_end_gone(&world.set);
	assert_true(world.process->ended);
	process_table_deinit(&world.set.table);
}

/*
 * /proc shows that a tracked mapping was moved, but the record of the move was not read yet: the
 * mapping must not be dropped.
 */
static void compares(void **state)
{
	const struct range range = {.start = PAGE, .end = 2 * PAGE, .placed_ns = 1};
	static const char line[] = "5000-6000 rw-p 00000000 00:00 0\n";
	struct world world;

	(void)state;
	make_world(&world);
	assert_int_equal(ranges_insert(&world.process->ranges, &range), 0);
	assert_int_equal(proc_maps_parse(line, sizeof(line) - 1, &world.process->maps), 0);
	world.process->read_ns = 10;
	set_records_until(&world, 9);
	process_set_compare_mappings(&world.set);
	assert_int_equal(world.process->ranges.cnt, 1);
	set_records_until(&world, 10);
	process_set_compare_mappings(&world.set);
	assert_int_equal(world.process->ranges.cnt, 0);
	process_table_deinit(&world.set.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends),
		cmocka_unit_test(compares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
