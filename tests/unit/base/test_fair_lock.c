// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the lock with two threads that take turns, release the lock while polling, and interrupt a
 * poll.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fair_lock.h"
#include "tests/unit/lib/process.h"

enum { FOREVER_MS = PATIENCE_MS, ROUNDS = 1000 };

static int pipe_fds[2];
static atomic_bool has_lock, overlap;
static int polled, rounds;

/* Acquires the lock and polls a pipe. */
static void *poll_pipe(void *arg)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};

	fair_lock_acquire();
	fair_lock_begin_sharing();
	has_lock = true;
	polled = fair_lock_poll(&fd, *(int *)arg);
	fair_lock_release();
	return NULL;
}

static void run_poll(int timeout_ms, void (*meanwhile)(void))
{
	pthread_t thread;

	assert_int_equal(pipe(pipe_fds), 0);
	polled = -1;
	has_lock = false;
	assert_int_equal(pthread_create(&thread, NULL, poll_pipe, &timeout_ms), 0);
	while (!has_lock)
		usleep(1000);
	meanwhile();
	pthread_join(thread, NULL);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/*
 * Writes to the pipe while holding the lock. Would deadlock if poll_pipe() held the lock while
 * polling.
 */
static void write_with_lock(void)
{
	fair_lock_acquire();
	assert_int_equal(polled, -1);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	fair_lock_release();
}

static void released_while_polling(void **state)
{
	(void)state;
	run_poll(FOREVER_MS, write_with_lock);
	assert_int_equal(polled, 1);
}

static void interrupt(void)
{
	fair_lock_interrupt(true);
}

static void interrupted(void **state)
{
	(void)state;
	run_poll(FOREVER_MS, interrupt);
	assert_int_equal(polled, 0);
	/*
	 * This thread has not begun to share the lock, so fair_lock_interrupt() does not affect it.
	 */
	assert_false(fair_lock_is_interrupted());
	fair_lock_interrupt(false);
}

static void nothing(void)
{
}

static void times_out(void **state)
{
	(void)state;
	run_poll(60, nothing);
	assert_int_equal(polled, 0);
}

static void *go_round(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		fair_lock_acquire();
		if (atomic_exchange(&has_lock, true))
			overlap = true;
		rounds++;
		has_lock = false;
		fair_lock_release();
	}
	return NULL;
}

static void one_at_a_time(void **state)
{
	pthread_t thread;

	(void)state;
	has_lock = false;
	assert_int_equal(pthread_create(&thread, NULL, go_round, NULL), 0);
	go_round(NULL);
	pthread_join(thread, NULL);
	assert_false(overlap);
	assert_int_equal(rounds, 2 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(released_while_polling),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(times_out),
		cmocka_unit_test(one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
