/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process started by memleak (-c, -- CMD) and held until its probes are attached: after the
 * dynamic loader has mapped the libraries, before any constructor runs.
 */
#ifndef LOADER_TARGET_CHILD_H
#define LOADER_TARGET_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	bool held;
	bool reaped;
	int status; /* from waitpid(), once reaped */
};

/*
 * Starts argv[0], searched in PATH, as the given user (NULL: memleak's own), and holds it before
 * its constructors if hold. quiet: replaces the terminal, which memleak draws on, by /dev/null.
 * Returns 0; -ECHILD if it ended before it could be traced (child_finish() returns its exit code);
 * or another negative errno after logging the failure, with no process left.
 */
int child_start(char **argv, const char *user, bool hold, bool quiet, struct child *ret);

/* Lets a held process run. */
void child_release(struct child *child);
/*
 * Detaches from the held process and leaves it stopped, so that another tracer can attach before it
 * runs; child_go_on() then continues it.
 */
void child_hand_over(struct child *child);
void child_go_on(const struct child *child);

/*
 * Sends SIGTERM and waits for the process. Returns its exit code as a shell shows it: 128+signal if
 * killed.
 */
int child_finish(struct child *child);

#endif
