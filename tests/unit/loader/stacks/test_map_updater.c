// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that added map entries become visible and removed entries disappear, however fast entries
 * are added and removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "loader/stacks/map_updater.h"
#include "tests/unit/lib/process.h"

/* Number of keys; below the thread limit, so that threads are started while keys are added */
#define KEYS 12
#define UPDATERS 40
#define UPDATES 200

static int inner_fd = -1, outer_fd = -1;

static int set_up(void **state)
{
	(void)state;
	inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", 4, 4, 1, NULL);
	if (inner_fd >= 0) {
		LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = (uint32_t)inner_fd);

		outer_fd = bpf_map_create(BPF_MAP_TYPE_HASH_OF_MAPS, "outer", 4, 4, 1024, &opts);
	}
	return outer_fd < 0 && errno != EPERM ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(outer_fd);
	close(inner_fd);
	return 0;
}

static bool is_there(uint32_t key)
{
	uint32_t id;

	return !bpf_map_lookup_elem(outer_fd, &key, &id);
}

static void put_and_remove(struct map_updater *updater)
{
	uint64_t deadline_ns = patience();

	for (uint32_t key = 0; key < KEYS; key++) {
		assert_int_equal(map_updater__put(updater, outer_fd, key, inner_fd), 0);
		assert_true(is_there(key));
		if (key % 3)
			map_updater__remove(updater, outer_fd, key);
	}
	for (uint32_t key = 0; key < KEYS; key++) {
		while (key % 3 && is_there(key) && clock_left_ms(deadline_ns))
			usleep(1000);
		assert_int_equal(is_there(key), !(key % 3));
	}
}

static void none_is_mixed_up(void **state)
{
	(void)state;
	if (outer_fd < 0) {
		print_message("skipped: no permission to create BPF maps\n");
		skip();
	}
	for (int i = 0; i < UPDATERS; i++) {
		struct map_updater *updater;

		assert_int_equal(map_updater__new(&updater), 0);
		put_and_remove(updater);
		map_updater__free(updater);
	}
}

/*
 * Maximum voluntary context switches per update. The one thread that handles an update waits for
 * work and for the kernel's readers of the map. If all idle threads woke up, there would be more
 * context switches.
 */
#define BLOCKS_MAX 8

/* An update wakes one idle thread, not all of them. */
static void idle_threads_sleep(void **state)
{
	struct map_updater *updater;
	struct rusage before, after;

	(void)state;
	if (outer_fd < 0) {
		print_message("skipped: no permission to create BPF maps\n");
		skip();
	}
	assert_int_equal(map_updater__new(&updater), 0);
	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(map_updater__put(updater, outer_fd, key, inner_fd), 0);
	getrusage(RUSAGE_SELF, &before);
	for (uint32_t i = 0; i < UPDATES; i++)
		assert_int_equal(map_updater__put(updater, outer_fd, i % KEYS, inner_fd), 0);
	map_updater__free(updater);
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_nvcsw - before.ru_nvcsw < UPDATES * BLOCKS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(none_is_mixed_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(idle_threads_sleep, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
