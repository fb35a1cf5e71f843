// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that memleak --rss reads processes in limited calls, which a process cannot block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "app/commands.h"
#include "base/limited_call.h"

static int is_other_thread(int fd, void *data)
{
	(void)fd;
	(void)data;
	return gettid() != getpid();
}

static void calls_are_limited(void **state)
{
	static const struct limited_function function = {.run = is_other_thread};

	(void)state;
	assert_int_equal(limited_call(getppid(), -1, &function, NULL), 0);
	assert_int_equal(rss_command(&(struct options){.pid_cnt = 0}), 0);
	assert_int_equal(limited_call(getppid(), -1, &function, NULL), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(calls_are_limited)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
