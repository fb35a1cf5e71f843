// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading the open descriptors of this process and of an ended process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/target/open_fds.h"

static void own(void **state)
{
	struct bits open = {0};
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 300);

	assert_true(fd >= 300);
	assert_int_equal(bits_add(&open, 299), 0);
	assert_int_equal(open_fds_read(getpid(), UINT64_MAX, &open), 0);
	assert_true(bits_has(&open, (size_t)fd));
	assert_true(bits_has(&open, STDIN_FILENO));
	assert_false(bits_has(&open, 299));
	close(fd);
	assert_int_equal(open_fds_read(getpid(), UINT64_MAX, &open), 0);
	assert_false(bits_has(&open, (size_t)fd));
	bits_deinit(&open);
}

/* A zombie has no descriptors. Once it is reaped, there is no such process. */
static void ended(void **state)
{
	struct bits open = {0};
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(open_fds_read(pid, UINT64_MAX, &open) < 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(open_fds_read(pid, UINT64_MAX, &open), -ENOENT);
	bits_deinit(&open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(own), cmocka_unit_test(ended)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
