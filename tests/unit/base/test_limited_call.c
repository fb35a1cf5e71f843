// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests limited calls (given up after a time limit): calls that end, that block, and that are
 * refused meanwhile.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"
#include "base/parallel.h"

/* First pid that calls are made for; need not exist */
#define FIRST_PID 0x600000
/* Number of calls that block at the same time: BLOCKED_MAX_PER_USER in limited_call.c. */
#define BLOCKED 64

/* Number of calls that all block until the last of them has begun */
#define TOGETHER 64

/* Duration of a slow call in microseconds. It lies between the two limits of limited_call.h. */
#define SLOW_US 900000

struct job {
	int slow_us;
	int result;
};

static atomic_int run_cnt, dropped_cnt, together_cnt;

/*
 * The called function. fd: blocks until the other end of this pipe is closed; -1: does not block.
 */
static int run(int fd, void *data)
{
	struct job *job = data;
	char byte;

	run_cnt++;
	usleep((useconds_t)job->slow_us);
	if (fd >= 0 && read(fd, &byte, 1) < 0)
		abort();
	job->result = 7;
	return 8;
}

static void drop(int result, void *data)
{
	struct job *job = data;

	if (result != 8 || job->result != 7)
		abort();
	dropped_cnt++;
}

static int call_slowly(pid_t pid, int fd, int slow_us)
{
	static const struct limited_function function = {run, drop, sizeof(struct job)};
	struct job job = {.slow_us = slow_us};
	int ret = limited_call(pid, fd, &function, &job);

	assert_int_equal(job.result, ret == 8 ? 7 : 0);
	return ret == 8 ? 0 : ret;
}

static int call(pid_t pid, int fd)
{
	return call_slowly(pid, fd, 0);
}

/* Ends all blocked calls. Waits until `cnt` calls in total have been dropped. */
static void release(int pipe_fds[2], int cnt)
{
	close(pipe_fds[1]);
	while (dropped_cnt < cnt)
		usleep(1000);
	close(pipe_fds[0]);
}

static int reset(void **state)
{
	run_cnt = 0;
	dropped_cnt = 0;
	return 0;
}

static void calls_end(void **state)
{
	for (int i = 1; i <= 1000; i++) {
		assert_int_equal(call(FIRST_PID, -1), 0);
		assert_int_equal(run_cnt, i);
	}
	assert_int_equal(call(getpid(), -1), 0);
	assert_int_equal(dropped_cnt, 0);
}

/*
 * While a call for a process blocks, other calls for this process are refused. Slow calls for other
 * processes are waited for, unless three calls have blocked.
 */
static void call_blocks(void **state)
{
	int fds[2];

	assert_return_code(pipe(fds), errno);
	assert_false(limited_calls_are_blocked());
	assert_int_equal(call(FIRST_PID, fds[0]), -EAGAIN);
	assert_true(limited_calls_are_blocked());
	assert_int_equal(call(FIRST_PID, -1), -EAGAIN);
	assert_int_equal(run_cnt, 1);
	assert_int_equal(call(FIRST_PID + 1, fds[0]), -EAGAIN);
	assert_int_equal(call_slowly(FIRST_PID + 2, -1, SLOW_US), 0);
	assert_int_equal(dropped_cnt, 0);
	release(fds, 2);
	assert_int_equal(call(FIRST_PID, -1), 0);
}

static void block(void *arg, size_t worker)
{
	const int *fds = arg;

	if (call(FIRST_PID + (pid_t)worker, fds[0]) != -EAGAIN)
		abort();
}

static void too_many_block(void **state)
{
	int fds[2];

	assert_return_code(pipe(fds), errno);
	parallel_run(BLOCKED, block, fds);
	assert_int_equal(run_cnt, BLOCKED);
	assert_int_equal(call(FIRST_PID + BLOCKED, -1), -EAGAIN);
	assert_int_equal(run_cnt, BLOCKED);
	assert_true(limited_calls_are_crowded(FIRST_PID + BLOCKED));
	assert_false(limited_calls_are_crowded(FIRST_PID));
	/* The calls were for processes without a user: those of a user have their own share. */
	assert_false(limited_calls_are_crowded(getppid()));
	assert_int_equal(call(getppid(), -1), 0);
	release(fds, BLOCKED);
	/* Threads are available again, but slow calls are no longer waited for. */
	while (call(FIRST_PID + BLOCKED, -1) == -EAGAIN)
		usleep(1000);
	assert_int_equal(call_slowly(FIRST_PID, -1, SLOW_US), -EAGAIN);
	while (dropped_cnt < BLOCKED + 1)
		usleep(1000);
}

/* The called function. Blocks until TOGETHER calls block. */
static int run_together(int fd, void *data)
{
	const pid_t *pid = data;

	if (fd != -1 || *pid < FIRST_PID || *pid >= FIRST_PID + TOGETHER)
		abort();
	together_cnt++;
	while (together_cnt < TOGETHER)
		usleep(1000);
	return 0;
}

static void waits_are_shared(void **state)
{
	static const struct limited_function function = {.run = run_together,
							 .size = sizeof(pid_t)};
	pid_t pids[TOGETHER];

	for (int i = 0; i < TOGETHER; i++)
		pids[i] = FIRST_PID + i;
	limited_calls_share_waits(pids, TOGETHER, &function);
	assert_int_equal(together_cnt, TOGETHER);
	/* No call was given up before the last call began. */
	assert_false(limited_calls_are_blocked());
}

/*
 * After fork() the child has none of the threads that run calls. Its calls must work all the same.
 */
static void calls_of_child(void **state)
{
	int status;
	pid_t pid;

	assert_int_equal(call(FIRST_PID, -1), 0);
	pid = fork();
	if (!pid)
		_exit(call(FIRST_PID, -1) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(calls_end, reset),
		cmocka_unit_test_setup(waits_are_shared, reset),
		cmocka_unit_test_setup(call_blocks, reset),
		cmocka_unit_test_setup(calls_of_child, reset),
		cmocka_unit_test_setup(too_many_block, reset),
	};

	limited_calls_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
