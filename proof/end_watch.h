/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops a process at its exit, before its memory is freed. Until then the process is traced and
 * runs normally, with its signals passed on. Used in the tracer process only, for one process.
 */
#ifndef PROOF_END_WATCH_H
#define PROOF_END_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Begins to trace a process. fd: eventfd, owned by this module from now on, signalled when the
 * process is at its end. Returns 0 or a negative errno.
 */
int end_watch_begin(pid_t pid, int fd);

/* True if this thread is already traced, and remains so. */
bool end_watch_is(pid_t tid);
/*
 * Returns the thread that is stopped at the end of its process, 0 if the process is not at its end.
 */
pid_t end_watch_at_end(pid_t pid);

/* Handles pending ptrace events of the watched thread, unless another module holds it. */
void end_watch_poll(void);

/* Meaning of a ptrace stop of a held thread. */
enum end_event {
	END_EVENT_NONE, /* the thread is not at its end */
	/* Only this thread ends: it was released, and another thread is traced. */
	END_EVENT_THREAD,
	END_EVENT_PROCESS, /* the process ends: the thread remains stopped */
};
enum end_event end_watch_event(pid_t tid, int status);
/* Resumes a thread that was held. stopped: leave it stopped by SIGSTOP or a similar signal. */
void end_watch_go_on(pid_t tid, bool stopped);

/* Lets the process end, once its memory has been read. */
void end_watch_let_go(void);

#endif
