// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding the descendants of processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/target/process_tree.h"

/* Pids wrap around, so a parent's pid may be higher than the pid of its child. */
static void finds_all_generations(void **state)
{
	static const pid_t given[] = {100};
	struct member members[] = {{40, 300, false}, {300, 200, false}, {200, 100, true},
				   {100, 1, false},  {1, 0, false},     {500, 1, false},
				   {20, 40, false}};
	size_t cnt = sizeof(members) / sizeof(members[0]);

	assert_int_equal(process_tree_keep_descendants(members, &cnt, given, 1), 0);
	assert_int_equal(cnt, 4);
	assert_int_equal(members[0].pid, 20);
	assert_int_equal(members[1].pid, 40);
	assert_int_equal(members[2].pid, 200);
	assert_true(members[2].own);
	assert_int_equal(members[3].pid, 300);
}

static void leaves_out_given(void **state)
{
	static const pid_t given[] = {2, 3};
	struct member members[] = {{1, 0, false}, {2, 1, false}, {3, 2, false}, {4, 3, false}};
	size_t cnt = 4;

	assert_int_equal(process_tree_keep_descendants(members, &cnt, given, 2), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(members[0].pid, 4);
}

static void finds_none(void **state)
{
	static const pid_t given[] = {7};
	struct member members[] = {{1, 0, false}, {2, 1, false}, {3, -1, false}};
	size_t cnt = 3;

	assert_int_equal(process_tree_keep_descendants(members, &cnt, given, 1), 0);
	assert_int_equal(cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_all_generations),
		cmocka_unit_test(leaves_out_given),
		cmocka_unit_test(finds_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
