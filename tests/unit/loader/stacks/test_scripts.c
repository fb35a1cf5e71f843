// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests in which processes script frames can be read, and that names that could not be read in time
 * are read later. Includes scripts.c, to replace its functions that read files and memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define prober_interpreter fake_interpreter
#define prober_script fake_script
#include "loader/stacks/scripts.c"

#define IMAGE 7
#define FILE_NUMBER 3

/* Result of the next reads, and the number of reads so far. */
static int status;
static unsigned int read_cnt;

int fake_interpreter(int fd, uint64_t deadline_ns, struct interpreter *ret)
{
	read_cnt++;
	*ret = (struct interpreter){.version = 0x030b0000};
	return status;
}

int fake_script(int mem_fd, uint32_t version, const struct memleak_script_frame *frame,
		uint64_t deadline_ns, struct script_place *ret)
{
	read_cnt++;
	if (!status)
		*ret = (struct script_place){strdup("serve"), strdup("app.py"), 12};
	return status;
}

static int begin(void **state)
{
	static struct scripts scripts;

	scripts = (struct scripts){.interpreters_fd = -1};
	*state = &scripts;
	status = 0;
	read_cnt = 0;
	return 0;
}

static int end(void **state)
{
	scripts_deinit(*state);
	return 0;
}

static bool add(struct scripts *scripts)
{
	return scripts_add_file(scripts, 0, "python3", IMAGE, FILE_NUMBER, 0);
}

static const struct script_frames frames = {
	.cnt = 2, .items = {{.code = 0x1000, .cookie = 5}, {.code = 0x2000, .cookie = 6}}};

/* Returns the outer one of the two script frames, in a stack without native frames. */
static uint64_t merged(const struct scripts *scripts)
{
	const struct memleak_stack stack = {0};
	cleanup_free uint64_t *found = NULL;
	size_t cnt;

	assert_int_equal(scripts_merge(scripts, IMAGE, 0, &stack, &frames, &found, &cnt), 0);
	assert_int_equal(cnt, 2);
	return found[1];
}

static void obstacles(void **state)
{
	struct mapping mappings[] = {{.path = "/usr/local/bin/python3.12"},
				     {.path = "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}};
	const struct proc_maps maps = {.mappings = mappings, .cnt = 2};

#if defined(__x86_64__)
	assert_null(scripts_obstacle(&maps));
	mappings[1].path = "/lib/ld-musl-x86_64.so.1";
	assert_string_equal(scripts_obstacle(&maps), "with musl");
#else
	assert_string_equal(scripts_obstacle(&maps), "on this architecture");
#endif
}

/* An interpreter's file not read in time is read again a limited number of times. */
static void slow_file(void **state)
{
	struct scripts *scripts = *state;

	status = -ETIMEDOUT;
	assert_false(add(scripts));
	assert_true(scripts_is_pending(scripts, FILE_NUMBER));
	status = 0;
	assert_true(add(scripts));
	assert_false(scripts_is_pending(scripts, FILE_NUMBER));
	scripts_deinit(scripts);
	begin(state);
	status = -ETIMEDOUT;
	for (unsigned int i = 0; i < 2 * ATTEMPTS_MAX; i++)
		assert_false(add(scripts));
	assert_false(scripts_is_pending(scripts, FILE_NUMBER));
	assert_int_equal(read_cnt, ATTEMPTS_MAX);
}

/*
 * A name not read in time is read again after a pause. Frames returned before then have the name.
 */
static void slow_name(void **state)
{
	struct scripts *scripts = *state;
	struct script_image *image;
	uint64_t frame;

	assert_true(add(scripts));
	image = hash_map_get(&scripts->images, IMAGE);
	read_cnt = 0;
	status = -ETIMEDOUT;
	scripts_read_from(scripts, -1, IMAGE, 0, &frames, 0);
	frame = merged(scripts);
	assert_null(scripts_location(scripts, frame)->frames[0].symbol);
	status = 0;
	scripts_read_from(scripts, -1, IMAGE, 0, &frames, 0);
	assert_int_equal(read_cnt, 1);
	image->retry_ns = 1; /* the pause is over */
	scripts_read_from(scripts, -1, IMAGE, 0, &frames, 0);
	assert_int_equal(read_cnt, 3);
	assert_int_equal(merged(scripts), frame);
	assert_string_equal(scripts_location(scripts, frame)->frames[0].symbol, "py::serve:app.py");
	scripts_read_from(scripts, -1, IMAGE, 0, &frames, 0);
	assert_int_equal(read_cnt, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(obstacles),
		cmocka_unit_test_setup_teardown(slow_file, begin, end),
		cmocka_unit_test_setup_teardown(slow_name, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
