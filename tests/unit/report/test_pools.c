// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests pools: sums of the memory that a language runtime allocates for its own use, for each
 * process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/pools.h"
#include "tests/unit/lib/fake_symbols.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define ARENA 1048576

#define FUNCTION(at, file, name)                                                                   \
	{                                                                                          \
		.addr = (at), .module = (file), .frame_cnt = 1,                                    \
		.frames = &(const struct sym_frame)                                                \
		{                                                                                  \
			.symbol = (name)                                                           \
		}                                                                                  \
	}
#define PLACE(at, file) FUNCTION(at, file, NULL)

static const struct sym_location places[] = {
	PLACE(1, "/lib/libc.so.6"),
	PLACE(2, "/usr/bin/python3.11"),
	PLACE(3, "/usr/lib/mmap.so"),
	PLACE(4, "/usr/bin/node"),
	PLACE(5, "/srv/shop"),
	PLACE(6, "/usr/bin/perl"),
	PLACE(7, "/usr/lib/libxs.so"),
	PLACE(8, "/usr/lib/libgc.so.1.5.1"),
	FUNCTION(9, "/usr/bin/node", "node::NodeArrayBufferAllocator::Allocate(unsigned long)"),
	FUNCTION(10, "[jit]", "JS:*onRequest /srv/app.js:3:1"),
};

static struct process one = {1, 1, "one", NULL}, other = {2, 2, "other", NULL};

#define SITE(number, owner, how, ...)                                                              \
	{                                                                                          \
		.id = (number), .process = (owner), .kind = (how), .bytes = (number)*ARENA,        \
		.count = (number), .oldest_ns = (number), .newest_ns = (number),                   \
		.ages.count[3] = (number), .kept[3] = 1, .largest.size = ARENA,                    \
		.frames = (const uint64_t[]){__VA_ARGS__},                                         \
		.frame_cnt = LENGTH(((const uint64_t[]){__VA_ARGS__}))                             \
	}

static struct site sites[] = {
	SITE(1, &one, KIND_MMAP, 1, 2),   SITE(2, &one, KIND_MMAP, 2, 2, 1),
	SITE(3, &one, KIND_HEAP, 2, 2),   SITE(4, &one, KIND_MMAP, 3, 2),
	SITE(5, &other, KIND_MMAP, 2),    SITE(6, &one, KIND_MMAP, 4, 2),
	SITE(7, &other, KIND_MMAP, 5, 4), SITE(8, &one, KIND_STACK, 2),
};

static void check(const struct pool *pool, const struct process *process, const char *words,
		  uint64_t arenas)
{
	assert_ptr_equal(pool->sum.process, process);
	assert_string_equal(pool->objects->words, words);
	assert_int_equal(pool->sum.bytes, arenas * ARENA);
	assert_int_equal(pool->sum.count, arenas);
	assert_int_equal(pool->sum.ages.count[3], arenas);
	assert_int_equal(pool->step_bytes, ARENA);
}

static void sums(void **state)
{
	static const bool expected[] = {true, true, false, false, true, true, false, false};
	struct snapshot snap = {.elapsed_ns = 1, .sites = sites, .site_cnt = LENGTH(sites)};
	struct fake_symbols fake = fake_symbols_of(places, LENGTH(places));
	struct ranking *ranking;
	struct pools pools;

	assert_int_equal(pools_init(&snap, &fake.backend, 0, &pools), 0);
	assert_int_equal(pools.cnt, 3);
	assert_memory_equal(pools.is_in_pool, expected, sizeof(expected));
	check(&pools.pools[0], &one, "python objects", 3);
	check(&pools.pools[1], &other, "python objects", 5);
	check(&pools.pools[2], &one, "JavaScript objects", 6);
	assert_int_equal(pools.pools[0].sum.frame_cnt, 3);
	assert_int_equal(pools.pools[0].sum.oldest_ns, 2);
	assert_int_equal(pools.pools[0].sum.newest_ns, 1);
	assert_int_equal(pools.pools[0].sum.kept[3], 2);
	assert_int_not_equal(pools.pools[0].sum.id, pools.pools[2].sum.id);
	assert_ptr_equal(pools_objects(&pools, &pools.pools[1].sum), pools.pools[0].objects);
	assert_null(pools_objects(&pools, &sites[0]));
	assert_int_equal(ranking__new(&ranking), 0);
	assert_int_equal(pools_rank(&pools, &snap, ranking), 0);
	assert_int_equal(pools.growth[1].bytes, 5 * ARENA);
	ranking__free(ranking);
	pools_deinit(&pools);
}

/* In a process that runs a script, blocks that the runtime itself allocates are in its pool. */
static void scripts(void **state)
{
	static const bool expected[] = {true, false, true, false, true, false};
	static struct process script = {3, 3, "import", NULL}, collected = {4, 4, "app", NULL};
	struct site mixed[] = {
		SITE(1, &script, KIND_HEAP, 6, 6, 1), SITE(2, &script, KIND_HEAP, 7, 6, 1),
		SITE(3, &script, KIND_HEAP, 1, 6),    SITE(4, &collected, KIND_HEAP, 8, 5),
		SITE(5, &collected, KIND_MMAP, 8, 5), SITE(6, &collected, KIND_HEAP, 6, 5),
	};
	struct snapshot snap = {.elapsed_ns = 1, .sites = mixed, .site_cnt = LENGTH(mixed)};
	struct fake_symbols fake = fake_symbols_of(places, LENGTH(places));
	struct pools pools;

	assert_int_equal(pools_init(&snap, &fake.backend, 0, &pools), 0);
	assert_memory_equal(pools.is_in_pool, expected, sizeof(expected));
	assert_int_equal(pools.cnt, 2);
	assert_string_equal(pools.pools[0].objects->words, "objects on libgc's heap");
	assert_true(pools.pools[0].in_steps);
	assert_string_equal(pools.pools[1].objects->words, "perl objects");
	assert_false(pools.pools[1].in_steps);
	assert_int_equal(pools.pools[1].sum.bytes, 4 * ARENA);
	assert_int_equal(pools.pools[1].sum.ages.count[3], 0);
	pools_deinit(&pools);
}

/*
 * Blocks of Node.js Buffers form their own pool, except those with a named function of the script
 * on the stack.
 */
static void buffers(void **state)
{
	static const bool expected[] = {true, true, false, false, true, false};
	static struct process script = {5, 5, "node", NULL};
	struct site mixed[] = {
		SITE(1, &script, KIND_HEAP, 9, 4),     SITE(2, &script, KIND_HEAP, 1, 4, 9, 4),
		SITE(3, &script, KIND_HEAP, 9, 10, 4), SITE(4, &script, KIND_HEAP, 4, 4),
		SITE(5, &script, KIND_MMAP, 4),        SITE(6, &one, KIND_HEAP, 9, 5),
	};
	struct snapshot snap = {.elapsed_ns = 1, .sites = mixed, .site_cnt = LENGTH(mixed)};
	struct fake_symbols fake = fake_symbols_of(places, LENGTH(places));
	struct pools pools;

	assert_int_equal(pools_init(&snap, &fake.backend, 0, &pools), 0);
	assert_memory_equal(pools.is_in_pool, expected, sizeof(expected));
	assert_int_equal(pools.cnt, 2);
	check(&pools.pools[0], &script, "JavaScript objects", 5);
	assert_string_equal(pools.pools[1].objects->words, "Buffers of node");
	assert_int_equal(pools.pools[1].sum.bytes, 3 * ARENA);
	assert_int_not_equal(pools.pools[0].sum.id, pools.pools[1].sum.id);
	pools_deinit(&pools);
}

static void nobody_names(void **state)
{
	struct snapshot snap = {.sites = sites, .site_cnt = LENGTH(sites)};
	struct pools pools;

	assert_int_equal(pools_init(&snap, NULL, 0, &pools), 0);
	assert_int_equal(pools.cnt, 0);
	pools_deinit(&pools);
}

static void unclear(void **state)
{
	struct history_point moments[] = {{.bytes = ARENA}, {.bytes = 2 * ARENA, .elapsed_ns = 10}};
	const struct history_point *points[] = {&moments[0], &moments[1]};
	struct site_history history = {.points = points, .point_cnt = 2};
	struct pool pool = {.step_bytes = ARENA};

	assert_true(pool_is_unclear(&pool, &history));
	history.trend.tendency = TENDENCY_FLAT;
	assert_true(pool_is_unclear(&pool, &history));
	history.trend.tendency = TENDENCY_STEPS;
	assert_true(pool_is_unclear(&pool, &history));
	history.trend.score.total = 1;
	assert_false(pool_is_unclear(&pool, &history));
	history.trend = (struct trend){.tendency = TENDENCY_LEVELLED, .since_ns = 4};
	assert_true(pool_is_unclear(&pool, &history));
	history.trend.since_ns = 5;
	assert_false(pool_is_unclear(&pool, &history));
	history.trend.tendency = TENDENCY_FLAT;
	moments[1].bytes = ARENA;
	assert_false(pool_is_unclear(&pool, &history));
}

/* A pool that took many steps at once, and none for as long, has stopped growing. */
static void one_rise(void **state)
{
	struct history_point moments[] = {{.bytes = ARENA},
					  {.bytes = 6 * ARENA, .elapsed_ns = 10},
					  {.bytes = 6 * ARENA, .elapsed_ns = 20}};
	const struct history_point *points[] = {&moments[0], &moments[1], &moments[2]};
	struct site_history history = {
		.points = points, .point_cnt = 3, .trend.tendency = TENDENCY_FLAT};
	struct pool pool = {.step_bytes = ARENA};

	(void)state;
	assert_false(pool_is_unclear(&pool, &history));
	moments[2].elapsed_ns = 19;
	assert_true(pool_is_unclear(&pool, &history));
	moments[2].elapsed_ns = 20;
	moments[0].bytes = 2 * ARENA;
	assert_true(pool_is_unclear(&pool, &history));
}

/*
 * A pool's growth is not judged while it is brief, nor while the process may be starting: its
 * memory was first seen recently, and it was young when tracing began or frees no blocks from
 * before tracing.
 */
static void settling(void **state)
{
	struct history_point moments[] = {{.elapsed_ns = 1000000000}, {.elapsed_ns = 20900000000}};
	const struct history_point *points[] = {&moments[0], &moments[1]};
	struct site_history history = {.points = points,
				       .point_cnt = 2,
				       .trend = {.tendency = TENDENCY_STEADY,
						 .since_ns = 9900000000,
						 .reasons.lately = 0.6}};

	assert_true(objects_grow_briefly(&history));
	history.trend.since_ns = 10000000000;
	assert_false(objects_grow_briefly(&history));
	history.trend.bytes_per_s = 96;
	assert_true(objects_slight_gain(&history, 25 << 20) == 960);
	assert_true(objects_slight_gain(&history, 900 << 10) == 0);
	assert_true(process_may_be_starting(&history, 1000000000, false));
	assert_false(process_may_be_starting(&history, 0, false));
	history.trend.reasons.lately = 0.4;
	assert_true(process_may_be_starting(&history, 0, false));
	history.trend.reasons.lately = 0.6;
	history.trend.tendency = TENDENCY_STEPS;
	assert_true(process_may_be_starting(&history, 0, false));
	moments[1].earlier.cnt = 1;
	assert_false(process_may_be_starting(&history, 1000000000, false));
	assert_true(process_may_be_starting(&history, 1000000000, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),     cmocka_unit_test(scripts),
		cmocka_unit_test(buffers),  cmocka_unit_test(nobody_names),
		cmocka_unit_test(unclear),  cmocka_unit_test(one_rise),
		cmocka_unit_test(settling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
