// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding a function that is on more than half of the growing stacks outside all suspects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/shared_caller.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define PATHS 6
#define FRAMES 4

static const struct process process = {1, 1, "app", NULL};

#define IN_FILE(file, name)                                                                        \
	{                                                                                          \
		.module = (file), .frame_cnt = 1, .frames = &(const struct sym_frame)              \
		{                                                                                  \
			.symbol = (name)                                                           \
		}                                                                                  \
	}
#define FUNCTION(name) IN_FILE("/srv/app", name)

static const struct sym_location a = FUNCTION("a"), b = FUNCTION("b"), c = FUNCTION("c"),
				 d = FUNCTION("d"), handle = FUNCTION("handle"),
				 again = FUNCTION("handle"), serve = FUNCTION("serve"),
				 start = FUNCTION("main"), dup_all = FUNCTION("xstrdup"),
				 loop = IN_FILE("/usr/lib/libuv.so.1", "uv_run"),
				 entry = IN_FILE("kernel", "do_syscall_64"),
				 syscall = IN_FILE("kernel", "__x64_sys_clone"),
				 copy = IN_FILE("kernel", "copy_process");

/* Stacks, from the blamed frame outwards. The first stack belongs to the suspect. */
typedef const struct sym_location *locations[PATHS][FRAMES];

static struct shared_caller found(locations at, struct report_site *paths, size_t total)
{
	static const uint64_t frames[FRAMES];
	static const struct site site = {
		.process = &process, .frames = frames, .frame_cnt = FRAMES};
	const struct suspect suspect = {.site = &paths[0]};

	for (size_t i = 0; i < PATHS; i++)
		paths[i] = (struct report_site){.site = &site, .locations = at[i]};
	return shared_caller_of(NULL, paths, PATHS, &suspect, 1, total);
}

static void most(void **state)
{
	locations at = {{&a, &serve, &loop, &start},    {&b, &handle, &loop, &start},
			{&c, &dup_all, &again, &start}, {&d, &handle, &serve, &start},
			{&b, &dup_all, &serve, &start}, {&b, &dup_all, &serve, &start}};
	struct report_site paths[PATHS];
	struct shared_caller shared = found(at, paths, 5);

	assert_ptr_equal(shared.path, &paths[1]);
	assert_int_equal(shared.pos.frame, 0);
	assert_int_equal(shared.site_cnt, 3);
	at[4][0] = at[5][0] = &c;
	at[5][2] = &handle;
	shared = found(at, paths, 5);
	assert_ptr_equal(shared.path, &paths[1]);
	assert_int_equal(shared.pos.frame, 1);
	assert_int_equal(shared.site_cnt, 4);
}

/*
 * No caller is named if each one is a library function, a wrapper or main(), or is on at most half
 * of the stacks.
 */
static void nobody(void **state)
{
	locations at = {{&a, &handle, &loop, &start},  {&b, &handle, &loop, &start},
			{&b, &dup_all, &loop, &start}, {&c, &dup_all, &loop, &start},
			{&c, &dup_all, &loop, &start}, {&d, &dup_all, &loop, &start}};
	struct report_site paths[PATHS];

	assert_null(found(at, paths, 5).path);
	at[5][0] = &b;
	assert_non_null(found(at, paths, 5).path);
	assert_null(found(at, paths, 6).path);
}

/* Functions that only enter the kernel are not named. */
static void entries(void **state)
{
	locations at = {{&a, &handle, &syscall, &entry}, {&b, &copy, &syscall, &entry},
			{&c, &copy, &syscall, &entry},   {&c, &copy, &syscall, &entry},
			{&d, &serve, &syscall, &entry},  {&d, &serve, &syscall, &entry}};
	struct report_site paths[PATHS];
	struct site site = {.space = SPACE_KERNEL, .frame_cnt = FRAMES};
	const struct suspect suspect = {.site = &paths[0]};
	struct shared_caller shared;

	for (size_t i = 0; i < PATHS; i++)
		paths[i] = (struct report_site){.site = &site, .locations = at[i]};
	shared = shared_caller_of(NULL, paths, PATHS, &suspect, 1, 5);
	assert_int_equal(shared.pos.frame, 1);
	assert_null(shared_caller_of(NULL, paths, PATHS, &suspect, 1, 6).path);
	paths[1].is_excluded = true;
	assert_null(shared_caller_of(NULL, paths, PATHS, &suspect, 1, 5).path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most),
		cmocka_unit_test(nobody),
		cmocka_unit_test(entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
