/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that memleak starts (-c, -- CMD). It is stopped until its probes are attached, at a
 * point where the dynamic loader has mapped its libraries but no constructor has run. With the
 * agent, it is stopped for a proof only, and earlier.
 */
#ifndef LOADER_TARGET_CHILD_H
#define LOADER_TARGET_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	bool stopped;
	bool reaped;
	int status; /* exit status as waitpid() returns it; valid if reaped is true */
};

/* Where a new process is stopped. */
enum child_hold {
	CHILD_RUNS,
	CHILD_AT_EXEC,             /* before the dynamic loader runs */
	CHILD_BEFORE_CONSTRUCTORS, /* after the dynamic loader has mapped libraries */
};

/*
 * Starts argv[0], which is searched for in PATH. user: the user to run as; NULL for memleak's own
 * user. quiet: give the process /dev/null
 * instead of the terminal, on which memleak draws. Returns 0, -ECHILD if the process ended before
 * it could be traced (child_finish() returns its exit code), or another negative errno after
 * logging the failure; no process is left then.
 */
int child_start(char **argv, const char *user, enum child_hold hold, bool quiet, struct child *ret);

/* Detaches from a stopped process, which then continues. */
void child_release(struct child *child);
/*
 * Detaches from a stopped process but leaves it stopped, so that another tracer can attach to it.
 * child_go_on() continues it later.
 */
void child_hand_over(struct child *child);
void child_go_on(const struct child *child);

/*
 * Sends SIGTERM to the process, unless it has ended, and waits for its end. Returns its exit code
 * as shells report it: 128 plus the signal number if it was killed.
 */
int child_finish(struct child *child);

#endif
