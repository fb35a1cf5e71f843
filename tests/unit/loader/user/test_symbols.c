// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests looking up names for many processes while the helper hangs: all processes together have one
 * deadline.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "loader/user/symbols.h"
#include "tests/unit/lib/process.h"
#include "tests/unit/symbolizer/patient.h"

#define PROCESSES 8
#define WITHIN_MS 400

struct world {
	struct symbolizer *symbolizer;
	struct user_programs programs;
	struct process_set set;
	struct site sites[PROCESSES];
	const struct site *all[PROCESSES];
	uint64_t frames[PROCESSES];
};

static pid_t only_child(pid_t pid)
{
	char path[64], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return (pid_t)atoi(text);
}

/*
 * Makes processes that all run this program. Each process has one site, in a function that no other
 * process uses.
 */
static void make_world(struct world *world)
{
	const uintptr_t functions[PROCESSES] = {
		(uintptr_t)symbolizer__new,   (uintptr_t)symspace__new,
		(uintptr_t)symspace__resolve, (uintptr_t)process_set_find,
		(uintptr_t)process_set_ended, (uintptr_t)user_symbols_of,
		(uintptr_t)process_table_add, (uintptr_t)process_set_purge,
	};

	*world = (struct world){.set = {.programs = &world->programs}};
	assert_int_equal(symbolizer__new(&world->symbolizer), 0);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct user_process *process = calloc(1, sizeof(*process));

		assert_non_null(process);
		process->info = (struct process){.image = i + 1, .pid = getpid()};
		process->pidfd = -1;
		assert_int_equal(symspace__new(world->symbolizer, getpid(), &process->space), 0);
		assert_int_equal(process_table_add(&world->set.table, process), 0);
		world->frames[i] = functions[i] + 1;
		world->sites[i] = (struct site){
			.process = &process->info,
			.frames = &world->frames[i],
			.frame_cnt = 1,
		};
		world->all[i] = &world->sites[i];
	}
}

static void free_world(struct world *world)
{
	process_table_deinit(&world->set.table);
	symbolizer__free(world->symbolizer);
}

static pid_t helper;

/* Resumes the helper once the wait for the first process's names is over. */
static void let_go_on(const char *path, int percent)
{
	if (!path)
		kill(helper, SIGCONT);
}

static size_t count_named(struct world *world, struct user_symbols *symbols)
{
	size_t cnt = 0;

	for (size_t i = 0; i < PROCESSES; i++) {
		const struct sym_location *location = symbols->backend.lookup(
			&symbols->backend, &world->sites[i], world->frames[i]);

		cnt += location && location->frames[0].symbol;
	}
	return cnt;
}

static void one_deadline_for_all_processes(void **state)
{
	struct world world;
	struct user_symbols symbols;
	uint64_t begin_ns;

	make_world(&world);
	be_patient(world.symbolizer);
	symbolizer__set_progress(world.symbolizer, let_go_on);
	/*
	 * This process's only child starts the helpers. The only child of that child is the
	 * symbolizer's helper.
	 */
	helper = only_child(only_child(getpid()));
	symbols = user_symbols_of(&world.set);
	process_stop(helper);
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(symbols.backend.prepare(&symbols.backend, world.all, PROCESSES,
						 clock_deadline_ns(WITHIN_MS * 1000000ULL)),
			 0);
	assert_true((clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000 >= WITHIN_MS - 50);
	/* With a deadline for each process, all but the first would have names now. */
	assert_int_equal(count_named(&world, &symbols), 0);
	assert_int_equal(
		symbols.backend.prepare(&symbols.backend, world.all, PROCESSES, patience()), 0);
	assert_int_equal(count_named(&world, &symbols), PROCESSES);
	free_world(&world);
}

/* A frame of value 0 is looked up, although 0 also marks unused slots of a hash table. */
static void frame_0(void **state)
{
	struct user_symbols symbols;
	struct world world;

	make_world(&world);
	world.frames[0] = 0;
	symbols = user_symbols_of(&world.set);
	assert_int_equal(symbols.backend.prepare(&symbols.backend, world.all, 1, patience()), 0);
	assert_true(was_resolved(world.set.table.items[0]->space, 0));
	free_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_deadline_for_all_processes),
		cmocka_unit_test(frame_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
