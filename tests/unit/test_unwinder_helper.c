// SPDX-License-Identifier: GPL-2.0-or-later
/* The helper that builds unwind tables: what it gives, and files that end it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unwinder/builder.h"
#include "unwinder/unwinder.h"

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int set_up(void **state)
{
	return unwinder__new((struct unwinder **)state) ? -1 : 0;
}

static int tear_down(void **state)
{
	unwinder__free(*state);
	return 0;
}

static void same_as_here(void **state)
{
	struct unwind_table here, there;
	int fd = open_self();

	assert_int_equal(unwind_table_build(fd, &here), 0);
	assert_int_equal(unwinder__table(*state, fd, &there), 0);
	assert_int_equal(here.page_cnt, there.page_cnt);
	assert_int_equal(here.rule_cnt, there.rule_cnt);
	assert_int_equal(here.index, there.index);
	assert_int_equal(here.granule_cnt, there.granule_cnt);
	assert_int_equal(here.row_cnt, there.row_cnt);
	assert_true(here.first == there.first);
	assert_memory_equal(here.words, there.words,
			    here.page_cnt * UNWIND_PAGE_WORDS * sizeof(uint32_t));
	unwind_table_deinit(&here);
	unwind_table_deinit(&there);
	close(fd);
}

static void no_table(void **state)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	struct unwind_table table;

	assert_int_equal(unwinder__table(*state, fd, &table), -ENOEXEC);
	close(fd);
	same_as_here(state);
}

/* The next file gets a new helper. */
static void helper_replaced(void **state)
{
	struct unwind_table table;
	int fd = open_self();

	assert_int_equal(unwinder__table(*state, -1, &table), -EPROTO);
	close(fd);
	same_as_here(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_as_here, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(helper_replaced, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
