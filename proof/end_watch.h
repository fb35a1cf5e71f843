/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops a process at its exit, before its memory is freed. Until then, the process is traced, but
 * it runs normally and receives its signals. Used in the tracer process only, for one process at a
 * time.
 */
#ifndef PROOF_END_WATCH_H
#define PROOF_END_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Begins to trace a process. notes_threads: true to note whether the process, which has one thread
 * now, gets other threads. fd: eventfd that is signalled when the process has stopped at its exit;
 * on success, this module owns it. Returns 0 or a negative errno.
 */
int end_watch_begin(pid_t pid, bool notes_threads, int fd);

/*
 * True if this module watches the thread. Another module that stops such a thread must resume it by
 * end_watch_go_on() instead of detaching from it.
 */
bool end_watch_is(pid_t tid);
/* True if this module traces the thread: watches it, or is about to detach from it. */
bool end_watch_traces(pid_t tid);
/*
 * True if the watched process has had other threads since it last executed a program, or other
 * processes that share its memory. Always false without notes_threads.
 */
bool end_watch_has_had_threads(void);
/*
 * Returns the thread that is stopped at the exit of its process, 0 if the process is not stopped at
 * its exit.
 */
pid_t end_watch_at_end(pid_t pid);

/* Returns the watched thread, 0 if there is none. */
pid_t end_watch_tid(void);

/*
 * Handles pending ptrace events. is_stopping: true if another module waits for the watched thread
 * to stop; then that module handles the events of this thread.
 */
void end_watch_poll(bool is_stopping);

/* Result of end_watch_event(): the meaning of a ptrace stop. */
enum end_event {
	END_EVENT_NONE, /* the thread is not about to end */
	/*
	 * Only this thread ends: it was detached, and another thread of the process is traced
	 * instead.
	 */
	END_EVENT_THREAD,
	END_EVENT_PROCESS, /* the process ends: the thread remains stopped */
};
enum end_event end_watch_event(pid_t tid, int status);
/*
 * Resumes a watched thread that another module had stopped, unless it is stopped at the exit of its
 * process. stopped: true if the thread is to remain stopped by SIGSTOP or a similar signal.
 */
void end_watch_go_on(pid_t tid, bool stopped);

/*
 * Lets the process end if it is stopped at its exit, and ends the watch. Read its memory first.
 */
void end_watch_release(void);

#endif
