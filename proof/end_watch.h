/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One process that stands still at its end, whichever way it ends, with its memory as it was. Until
 * then it is traced, and runs as if it were not: its signals are handed to it. For the tracer's
 * process alone, which has one such process.
 */
#ifndef PROOF_END_WATCH_H
#define PROOF_END_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Begins to trace it; fd, an eventfd that is taken over, is readable when it is at its end. 0 or a
 * negative errno.
 */
int end_watch_begin(pid_t pid, int fd);

/* Whether this thread of its is traced already, and stays so. */
bool end_watch_is(pid_t tid);
/* The thread that stands still at the end of its process; 0: it is not at its end. */
pid_t end_watch_at_end(pid_t pid);

/* Handles what has happened to it, unless it is held for something else. */
void end_watch_poll(void);

/* A thread has stopped while it was held. */
enum end_event {
	END_EVENT_NONE,    /* at no end */
	END_EVENT_THREAD,  /* at its own end alone: it has gone on, and another one is traced */
	END_EVENT_PROCESS, /* at the end of its process: it stays */
};
enum end_event end_watch_event(pid_t tid, int status);
/* It was held, and goes on; stopped: by a signal like SIGSTOP, and stays so. */
void end_watch_go_on(pid_t tid, bool stopped);

/* Its memory has been looked at: it goes. */
void end_watch_let_go(void);

#endif
