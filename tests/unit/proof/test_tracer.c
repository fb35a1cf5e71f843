// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that a thread which cannot be stopped, as one that waits for a file system, does not keep
 * memleak waiting. Without the BPF program, the tracer tries to stop all threads.
 */
#include "proof/tracer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "proof/arch.h"
#include "tests/unit/lib/process.h"

static int go_on[2]; /* pipe; processes that cannot be stopped go on when it is closed */

static char state_of(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %*s %c", &state), 1);
	fclose(file);
	return state;
}

/* Starts a process that cannot be stopped: it waits in vfork() for the end of its child. */
static pid_t start_unstoppable(void)
{
	pid_t pid = fork();
	char byte;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(go_on[1]);
		if (!vfork())
			_exit(read(go_on[0], &byte, 1) < 0);
		_exit(0);
	}
	while (state_of(pid) != 'D')
		usleep(1000);
	return pid;
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	while (state_of(pid) != 'S')
		usleep(1000);
	return pid;
}

/* Returns an enum tracer_result or a negative errno. */
static int take_if(struct tracer *tracer, pid_t pid, bool may_end)
{
	struct tracer_order order = {
		.pid = pid, .may_end = may_end, .deadline_ns = clock_deadline_ns(5000000000ULL)};
	struct tracer_answer answer = {0};
	int err = tracer__take(tracer, &order, &answer);

	live_threads_deinit(&answer.seen);
	return err ? err : (int)answer.result;
}

static int take(struct tracer *tracer, pid_t pid)
{
	return take_if(tracer, pid, false);
}

static struct tracer *new_tracer(void)
{
	struct tracer *tracer;

	if (geteuid() || !registers_keep_argument) {
		print_message("skipped: cannot trace other processes without a BPF program\n");
		skip();
	}
	assert_int_equal(tracer__new(NULL, &tracer), 0);
	assert_int_equal(pipe(go_on), 0);
	return tracer;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void next_picture_is_taken(void **state)
{
	struct tracer *tracer = new_tracer();
	pid_t unstoppable = start_unstoppable(), sleeper = start_sleeper();

	(void)state;
	assert_int_equal(take(tracer, unstoppable), -EAGAIN);
	assert_int_equal(take(tracer, sleeper), TRACER_STOPPED);
	close(go_on[1]);
	tracer__free(tracer);
	end(unstoppable);
	end(sleeper);
	close(go_on[0]);
}

static void *free_tracer(void *tracer)
{
	tracer__free(tracer);
	return NULL;
}

static void memleak_can_end(void **state)
{
	struct tracer *tracer = new_tracer();
	pid_t unstoppable = start_unstoppable();
	struct timespec until;
	pthread_t thread;
	int err;

	(void)state;
	assert_int_equal(take(tracer, unstoppable), -EAGAIN);
	assert_int_equal(pthread_create(&thread, NULL, free_tracer, tracer), 0);
	until = clock_timespec(patience());
	err = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
	close(go_on[1]);
	assert_int_equal(err, 0);
	end(unstoppable);
	close(go_on[0]);
}

/* A tracer that memleak has given up lets the process end whose end it watches. */
static void watched_process_can_end(void **state)
{
	struct tracer *tracer = new_tracer();
	pid_t unstoppable = start_unstoppable(), watched = start_sleeper();
	int fd = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(tracer__watch_end(tracer, watched, false, fd), 0);
	assert_int_equal(take(tracer, unstoppable), -EAGAIN);
	tracer__free(tracer);
	kill(watched, SIGTERM);
	process_await_end(watched);
	close(go_on[1]);
	end(unstoppable);
	waitpid(watched, NULL, 0);
	close(fd);
	close(go_on[0]);
}

/* A watched thread that stops too late is resumed, and its end is still seen. */
static void end_is_seen_after_a_late_stop(void **state)
{
	struct tracer *tracer = new_tracer();
	pid_t unstoppable = start_unstoppable();
	struct pollfd seen = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};

	(void)state;
	assert_int_equal(tracer__watch_end(tracer, unstoppable, false, seen.fd), 0);
	assert_int_equal(take(tracer, unstoppable), -EAGAIN);
	close(go_on[1]);
	assert_int_equal(poll(&seen, 1, (int)PATIENCE_MS), 1);
	assert_int_equal(take(tracer, unstoppable), -EAGAIN);
	assert_int_equal(take_if(tracer, unstoppable, true), TRACER_ENDED);
	tracer__free(tracer);
	waitpid(unstoppable, NULL, 0);
	close(seen.fd);
	close(go_on[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_picture_is_taken),
		cmocka_unit_test(memleak_can_end),
		cmocka_unit_test(watched_process_can_end),
		cmocka_unit_test(end_is_seen_after_a_late_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
