/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that memleak starts (-c, -- CMD), held until its probes are in place: from exec to
 * the point where the dynamic loader has mapped the libraries and no constructor has run.
 */
#ifndef LOADER_TARGET_CHILD_H
#define LOADER_TARGET_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	bool held;
	bool reaped;
	int status; /* of waitpid, once reaped */
};

/*
 * Starts argv[0] (PATH is searched) as that user (NULL: as memleak), and holds it if asked. quiet:
 * it sees /dev/null in the place of the terminal, which memleak draws on. Returns
 * 0, -ECHILD (it ran and ended by itself before it could be traced; child_finish has its code) or
 * another negative errno, of which it has said on stderr what failed; then no process is left.
 */
int child_start(char **argv, const char *user, bool hold, bool quiet, struct child *ret);

/* Lets it run. */
void child_release(struct child *child);
/*
 * Gives its tracing up while it stands still, so that another tracer can take it over before it has
 * run; child_go_on() lets it run then.
 */
void child_hand_over(struct child *child);
void child_go_on(const struct child *child);

/* SIGTERM, then waits for its end; the exit code as a shell shows it: 128+signal if killed. */
int child_finish(struct child *child);

#endif
