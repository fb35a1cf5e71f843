// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests a limited call (one with a time limit) that is given up before its thread has started to
 * run it.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"

/* First pid that calls are made for; need not exist */
#define FIRST_PID 0x600000

static int gate[2]; /* pipe; the late thread waits until its write end is closed */
static atomic_int run_cnt, late_cnt;
static _Atomic pid_t thread;

/*
 * The called function. fd: blocks until the other end of this pipe is closed; -1: does not block.
 */
static int run(int fd, void *data)
{
	run_cnt++;
	thread = (pid_t)syscall(SYS_gettid);
	if (fd >= 0 && read(fd, data, 1) < 0)
		abort();
	return 0;
}

static int call(pid_t pid, int fd)
{
	static const struct limited_function function = {.run = run, .size = 1};
	char byte = 0;

	return limited_call(pid, fd, &function, &byte);
}

static void be_late(int signal)
{
	char byte;

	late_cnt++;
	if (read(gate[0], &byte, 1) < 0)
		abort();
}

/*
 * Makes the thread of the latest call wait in a signal handler. It was idle, so it holds no lock.
 */
static void make_late(void)
{
	const struct sigaction action = {.sa_handler = be_late};

	assert_return_code(sigaction(SIGUSR1, &action, NULL), errno);
	assert_return_code(syscall(SYS_tgkill, getpid(), thread, SIGUSR1), errno);
	while (!late_cnt)
		usleep(1000);
}

static nlink_t thread_cnt(void)
{
	struct stat st;

	assert_return_code(stat("/proc/self/task", &st), errno);
	return st.st_nlink - 2;
}

/*
 * A call that is given up before it starts is never run. The call that blocks is run once. The late
 * thread runs later calls.
 */
static void late_thread(void **state)
{
	int fds[2];
	nlink_t cnt;

	assert_return_code(pipe(fds), errno);
	assert_return_code(pipe(gate), errno);
	assert_int_equal(call(FIRST_PID, fds[0]), -EAGAIN);
	assert_int_equal(call(FIRST_PID + 1, -1), 0);
	cnt = thread_cnt();
	make_late();
	assert_int_equal(call(FIRST_PID + 2, -1), -EAGAIN);
	assert_int_equal(run_cnt, 2);
	close(gate[1]);
	assert_int_equal(call(FIRST_PID + 2, -1), 0);
	assert_int_equal(run_cnt, 3);
	assert_int_equal(thread_cnt(), cnt);
	close(fds[1]);
	while (call(FIRST_PID, -1) == -EAGAIN)
		usleep(1000);
	assert_int_equal(run_cnt, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_thread),
	};

	limited_calls_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
