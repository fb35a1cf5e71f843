// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests walks of a BPF map: each element is visited once, deletions are reported, and a walk can
 * end early.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "loader/tables/table_walk.h"

/* Number of map elements, enough for several batches */
#define ELEMENTS 40000

struct seen {
	int fd;
	uint8_t visited[ELEMENTS];
	uint8_t deleted[ELEMENTS];
};

static int visit(void *arg, const void *key, const void *value)
{
	struct seen *seen = arg;
	uint32_t at;

	memcpy(&at, key, sizeof(at));
	assert_true(at < ELEMENTS);
	assert_memory_equal(key, value, sizeof(at));
	seen->visited[at]++;
	return 0;
}

/* True if the walk deletes the element. The walk deletes two of three elements. */
static bool is_deleted(uint32_t at)
{
	return at % 3 != 0;
}

/* True if the element is already gone when the walk tries to delete it. */
static bool vanishes(uint32_t at)
{
	return is_deleted(at) && at % 5 == 0;
}

static int judge(void *arg, const void *key, const void *value)
{
	struct seen *seen = arg;
	uint32_t at;

	visit(arg, key, value);
	memcpy(&at, key, sizeof(at));
	if (vanishes(at))
		assert_int_equal(bpf_map_delete_elem(seen->fd, key), 0);
	return is_deleted(at);
}

static void note_deleted(void *arg, const void *key)
{
	struct seen *seen = arg;
	uint32_t at;

	memcpy(&at, key, sizeof(at));
	seen->deleted[at]++;
}

static struct seen seen;

static struct table_walk walk_of(int (*element)(void *arg, const void *key, const void *value))
{
	return (struct table_walk){
		.fd = seen.fd,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint32_t),
		.element = element,
		.deleted = note_deleted,
		.arg = &seen,
	};
}

static int fill(void **state)
{
	seen.fd = bpf_map_create(BPF_MAP_TYPE_HASH, "walked", sizeof(uint32_t), sizeof(uint32_t),
				 ELEMENTS, NULL);
	for (uint32_t i = 0; seen.fd >= 0 && i < ELEMENTS; i++)
		assert_int_equal(bpf_map_update_elem(seen.fd, &i, &i, BPF_NOEXIST), 0);
	memset(seen.visited, 0, sizeof(seen.visited));
	memset(seen.deleted, 0, sizeof(seen.deleted));
	return 0;
}

static int empty(void **state)
{
	if (seen.fd >= 0)
		close(seen.fd);
	return 0;
}

static void skip_without_rights(void)
{
	if (seen.fd < 0) {
		assert_int_equal(seen.fd, -EPERM);
		print_message("skipped: no permission to create BPF maps\n");
		skip();
	}
}

static void visits_each_once(void **state)
{
	const struct table_walk walk = walk_of(visit);

	skip_without_rights();
	assert_int_equal(table_walk_run(&walk), 0);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		assert_int_equal(seen.visited[i], 1);
}

static void deletions_are_reported(void **state)
{
	const struct table_walk walk = walk_of(judge), again = walk_of(visit);

	skip_without_rights();
	assert_int_equal(table_walk_delete(&walk), 0);
	memset(seen.visited, 0, sizeof(seen.visited));
	assert_int_equal(table_walk_run(&again), 0);
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		assert_int_equal(seen.visited[i], !is_deleted(i));
		assert_int_equal(seen.deleted[i], is_deleted(i) && !vanishes(i));
	}
}

static unsigned int batches;

static bool stops_at_third_batch(void *arg)
{
	(void)arg;
	return ++batches == 3;
}

static void walk_ends_early(void **state)
{
	struct table_walk walk = walk_of(visit);
	size_t visited = 0;

	skip_without_rights();
	walk.stops = stops_at_third_batch;
	assert_int_equal(table_walk_run(&walk), -ECANCELED);
	assert_int_equal(batches, 3);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		visited += seen.visited[i];
	assert_in_range(visited, 1, ELEMENTS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(visits_each_once, fill, empty),
		cmocka_unit_test_setup_teardown(deletions_are_reported, fill, empty),
		cmocka_unit_test_setup_teardown(walk_ends_early, fill, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
