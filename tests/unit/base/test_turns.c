// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests turns of two threads: alternating, yielded while polling, and interrupted. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/turns.h"
#include "tests/unit/lib/process.h"

enum { FOREVER_MS = PATIENCE_MS, ROUNDS = 1000 };

static int pipe_fds[2];
static atomic_bool has_turn, overlap;
static int polled, rounds;

/* Takes the turn and polls a pipe. */
static void *poll_pipe(void *arg)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};

	turn_take();
	turn_share();
	has_turn = true;
	polled = turn_poll(&fd, *(int *)arg);
	turn_give();
	return NULL;
}

static void run_poll(int timeout_ms, void (*meanwhile)(void))
{
	pthread_t thread;

	assert_int_equal(pipe(pipe_fds), 0);
	polled = -1;
	has_turn = false;
	assert_int_equal(pthread_create(&thread, NULL, poll_pipe, &timeout_ms), 0);
	while (!has_turn)
		usleep(1000);
	meanwhile();
	pthread_join(thread, NULL);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Writes to the pipe in a turn. Would deadlock if poll_pipe() kept its turn while polling. */
static void write_in_turn(void)
{
	turn_take();
	assert_int_equal(polled, -1);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	turn_give();
}

static void given_away_while_polling(void **state)
{
	(void)state;
	run_poll(FOREVER_MS, write_in_turn);
	assert_int_equal(polled, 1);
}

static void hurry(void)
{
	turn_hurry(true);
}

static void hurried(void **state)
{
	(void)state;
	run_poll(FOREVER_MS, hurry);
	assert_int_equal(polled, 0);
	/* This thread takes no turns: turn_hurry() has no effect on it. */
	assert_false(turn_is_hurried());
	turn_hurry(false);
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
		turn_take();
		if (atomic_exchange(&has_turn, true))
			overlap = true;
		rounds++;
		has_turn = false;
		turn_give();
	}
	return NULL;
}

static void one_at_a_time(void **state)
{
	pthread_t thread;

	(void)state;
	has_turn = false;
	assert_int_equal(pthread_create(&thread, NULL, go_round, NULL), 0);
	go_round(NULL);
	pthread_join(thread, NULL);
	assert_false(overlap);
	assert_int_equal(rounds, 2 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_away_while_polling),
		cmocka_unit_test(hurried),
		cmocka_unit_test(times_out),
		cmocka_unit_test(one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
