// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/lib/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"

/* Interval between checks of the state of a process, in microseconds */
#define LOOK_US 1000

uint64_t patience(void)
{
	return clock_deadline_ns(PATIENCE_NS);
}

/* Returns the state letter from /proc/PID/stat, 'X' if there is no such process. */
static char state_of(pid_t pid)
{
	cleanup_free char *stat = NULL;
	const char *behind_name;

	if (proc_read(pid, "stat", &stat))
		return 'X';
	behind_name = strrchr(stat, ')');
	return behind_name && behind_name[1] ? behind_name[2] : 'X';
}

void process_stop(pid_t pid)
{
	uint64_t deadline_ns = patience();

	assert_int_equal(kill(pid, SIGSTOP), 0);
	while (state_of(pid) != 'T') {
		assert_true(clock_left_ms(deadline_ns) > 0);
		usleep(LOOK_US);
	}
}

bool process_has_ended(pid_t pid)
{
	char state = state_of(pid);

	return state == 'X' || state == 'Z';
}

void process_await_end(pid_t pid)
{
	uint64_t deadline_ns = patience();

	while (!process_has_ended(pid)) {
		assert_true(clock_left_ms(deadline_ns) > 0);
		usleep(LOOK_US);
	}
}

uint64_t process_read_bytes(void)
{
	cleanup_free char *io = NULL;
	const char *bytes;

	if (proc_read(getpid(), "io", &io))
		return 0;
	bytes = strstr(io, "rchar: ");
	return bytes ? strtoull(bytes + strlen("rchar: "), NULL, 10) : 0;
}
