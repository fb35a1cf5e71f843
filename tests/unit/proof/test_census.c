// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the census of a heap (the list of its chunks) with programs that record their blocks. By
 * hand, "test_census heap ..." runs such a program, "test_census check PROGRAM ..." checks the
 * given program, "test_census busy PROGRAM ..." checks a program that never stops allocating, and
 * "test_census pid N" takes a census of a process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proof/census.h"
#include "proof/census_table.h"
#include "tests/unit/proof/heap_check.h"
#include "tests/unit/proof/made_heap.h"
#include "tests/unit/proof/process_memory.h"

static void tell(const struct heap_check *check)
{
	printf("live %zu/%zu (free %zu) freed %zu (used %zu) other %zu; arenas %zu -%zu caches %zu "
	       "heaps %zu %lu KiB %.1f ms\n",
	       check->live_seen, check->live, check->live_free, check->freed, check->freed_used,
	       check->other_used, check->arenas, check->skipped, check->caches, check->heaps,
	       check->heap_bytes >> 10, (double)check->cpu_ns / 1e6);
}

static void check_program(void **state)
{
	struct heap_check check;

	heap_check_run(*state, getenv("HEAP_CHECK_TUNABLES"), &check);
	tell(&check);
	assert_int_equal(check.live_free, 0);
	assert_int_equal(check.freed_used, 0);
	assert_int_equal(check.live_seen, check.live);
}

static void check_busy(void **state)
{
	const char *tunables = getenv("HEAP_CHECK_TUNABLES");
	struct heap_check check;

	heap_check_busy(*state, tunables, 300, &check);
	tell(&check);
	assert_int_equal(check.live_free, 0);
}

/* Arguments of made_heap.c, and tunables of glibc. */
struct scene {
	const char *order;
	const char *tunables;
	size_t arenas; /* expected number of arenas */
};

/*
 * For each thread, the C library may have two chunks that the program does not record: one
 * allocated when the thread starts, and an empty thread cache.
 */
static void check_scene(void **state)
{
	const struct scene *scene = *state;
	char *order = strdup(scene->order), *rest = order;
	char *argv[16] = {"/proc/self/exe", "heap"};
	struct heap_check check;

	for (size_t i = 2; i < 15 && rest; i++)
		argv[i] = strsep(&rest, " ");
	heap_check_run(argv, scene->tunables, &check);
	free(order);
	assert_true(check.live > 100 && check.freed > 100);
	assert_int_equal(check.live_free, 0);
	assert_int_equal(check.live_seen + check.neighbours, check.live);
#ifndef __SANITIZE_ADDRESS__
	/* Only sanitizers make mappings that the kernel may merge with those of large blocks. */
	assert_int_equal(check.neighbours, 0);
#endif
	assert_int_equal(check.freed_used, 0);
	assert_int_equal(check.skipped, 0);
	assert_int_equal(check.arenas, scene->arenas);
	assert_true(check.other_used <= 2 * scene->arenas);
}

static const struct scene scenes[] = {
	{"seed=1", NULL, 1},
	{"seed=2 huge=1 drop=1000", NULL, 1},
	{"seed=3 small=1 steps=100000 slots=20000 drop=30000", NULL, 1},
	{"seed=4 threads=4 exits=1 huge=1", NULL, 5},
	{"seed=5 threads=4", "glibc.malloc.arena_max=2", 2},
	{"seed=6 threads=2", "glibc.malloc.tcache_count=0", 3},
	{"seed=7 threads=2", "glibc.malloc.tcache_count=300", 3},
	{"seed=8 threads=2", "glibc.malloc.mxfast=160", 3},
	{"seed=9 threads=2", "glibc.malloc.mxfast=0", 3},
	{"seed=10 threads=1 huge=1", "glibc.malloc.top_pad=0", 2},
	/* When an arena's heap is full, glibc adds further heaps. */
	{"seed=11 threads=1 huge=1 slots=20000 steps=50000",
	 "glibc.malloc.mmap_threshold=100000000", 2},
	{"seed=12 sbrk=500 drop=500", NULL, 1},
	{"seed=13 sbrk=3 steps=3000", NULL, 1},
	{"seed=14 threads=1 wall=1", NULL, 2},
	{"seed=15 threads=2", "glibc.malloc.hugetlb=2", 3},
	{"seed=16 threads=2", "glibc.malloc.perturb=165", 3},
	{"seed=17 remap=18", NULL, 1},
	/* Small heaps, some of which happen to be aligned like larger heaps. */
	{"seed=18 threads=8 slots=20000 steps=15000",
	 "glibc.malloc.hugetlb=2:glibc.malloc.arena_max=9", 9},
};

static int add_chunk(void *arg, const struct chunk *chunk)
{
	census_table_add(arg, chunk, false);
	return 0;
}

static int take_of(pid_t pid)
{
	struct process_memory memory;
	struct heap_census table = {0};
	struct census census;

	if (process_memory_init(&memory, pid) ||
	    census_take(&memory.memory, add_chunk, &table, &census))
		return 1;
	for (size_t i = 0; i < heap_census_cnt(&table); i++) {
		const struct reach_sum *of = table.classes[i];

		printf("up to %lu: used %lu in %lu, free %lu in %lu\n", heap_class_upto(i),
		       of[HEAP_OLDER].bytes, of[HEAP_OLDER].count, of[HEAP_FREE].bytes,
		       of[HEAP_FREE].count);
	}
	printf("arenas %zu -%zu caches %zu heaps %zu used %lu/%lu free %lu/%lu own %lu/%lu top %lu "
	       "mapped %lu/%lu\n",
	       census.arena_cnt, census.skipped_cnt, census.cache_cnt, census.heap_cnt,
	       census.used.bytes, census.used.count, census.free_.bytes, census.free_.count,
	       census.own.bytes, census.own.count, census.top_bytes, census.mapped.bytes,
	       census.mapped.count);
	census_deinit(&census);
	process_memory_deinit(&memory);
	return 0;
}

static int check_scenes(void)
{
	struct CMUnitTest tests[sizeof(scenes) / sizeof(scenes[0])];

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		tests[i] = (struct CMUnitTest){.name = scenes[i].order,
					       .test_func = check_scene,
					       .initial_state = (void *)&scenes[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "heap"))
		return made_heap_main(argc - 1, argv + 1);
	if (argc > 2 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "busy"))) {
		const struct CMUnitTest check[] = {
			{.name = argv[2],
			 .test_func = argv[1][0] == 'c' ? check_program : check_busy,
			 .initial_state = argv + 2},
		};

		return cmocka_run_group_tests(check, NULL, NULL);
	}
	if (argc > 2 && !strcmp(argv[1], "pid"))
		return take_of(atoi(argv[2]));
	return check_scenes();
}
