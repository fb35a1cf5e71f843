// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which processes' scripts have frames that can be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/stacks/scripts.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(obstacles)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
