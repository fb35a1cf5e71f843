// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which mappings are kept in the helper that walks stacks with libdwfl. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/stacks/walker_spaces.h"

/*
 * Mappings needed by a stack since the last report are kept in the helper, so they need not be sent
 * again.
 */
static void needed_mappings_stay(void **state)
{
	struct walker_code_space space = {.pid = 1, .generation = 7};
	struct walker_spaces spaces = {.items = &space, .cnt = 1};

	assert_null(walker_spaces_find(&spaces, 6));
	assert_ptr_equal(walker_spaces_find(&spaces, 7), &space);
	walker_spaces_drop_unused(&spaces);
	assert_int_equal(spaces.cnt, 1);
	assert_false(space.used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(needed_mappings_stay)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
