// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that a file system which does not answer cannot block the caller of backing_inode(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limited_call.h"
#include "loader/probes/backing_inode.h"

static atomic_int call_cnt, direct_cnt;

/* Replaces the C library's function. Counts the calls that the main thread makes itself. */
int fstatfs(int fd, struct statfs *ret)
{
	(void)fd;
	call_cnt++;
	direct_cnt += gettid() == getpid();
	memset(ret, 0, sizeof(*ret));
	return 0;
}

static void asks_in_another_thread(void **state)
{
	FILE *file = tmpfile();
	struct file_id id;
	struct stat st;

	(void)state;
	limited_calls_begin();
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	assert_int_equal(backing_inode(fileno(file), &id), 0);
	assert_int_equal(id.ino, st.st_ino);
	assert_int_equal(call_cnt, 1);
	assert_int_equal(direct_cnt, 0);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(asks_in_another_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
