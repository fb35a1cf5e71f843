/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of another process that are stopped by ptrace, and later resumed unnoticed: no system
 * call is cut short, and no signal is lost. For use in the tracer only: the threads resume if the
 * tracer ends.
 */
#ifndef PROOF_STOPPED_THREADS_H
#define PROOF_STOPPED_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_threads.h"

struct stopped_thread {
	pid_t tid;
	bool stopped;
	bool stopped_by_signal; /* true if the process was stopped by a signal such as SIGSTOP */
	bool gone;
};

struct stopped_threads {
	struct stopped_thread *items; /* threads, sorted by tid */
	size_t cnt;
	size_t cap;
	uint64_t since_ns; /* time of the first PTRACE_INTERRUPT, 0 if none */
};

/* Blocks SIGCHLD, so that stops of threads can be waited for. */
void stopped_threads_prepare(void);
/* Returns a descriptor that is readable after SIGCHLD, or a negative errno. */
int stopped_threads_signal_fd(void);
/* Discards pending signals of the descriptor. */
void stopped_threads_drain_signals(int fd);

/*
 * Interrupts a thread, unless that was done before. Returns 0, -EBUSY if another process traces the
 * thread, or -ENOMEM. Ignores a thread that is about to end.
 */
int stopped_threads_add(struct stopped_threads *stopped, pid_t tid);

/*
 * Waits until all threads have stopped. Returns -ETIMEDOUT if some threads are in an
 * uninterruptible system call; they stop as soon as the call ends.
 */
int stopped_threads_wait(struct stopped_threads *stopped, uint64_t deadline_ns);

/* Returns the entry of a thread, NULL if the thread was never interrupted. */
struct stopped_thread *stopped_threads_find(const struct stopped_threads *stopped, pid_t tid);

/*
 * Resumes the threads that have stopped. before: records of the threads made during the stop, or
 * NULL. Returns true if all threads have resumed; otherwise, call again soon.
 */
bool stopped_threads_resume(struct stopped_threads *stopped, const struct live_threads *before);

void stopped_threads_deinit(struct stopped_threads *stopped);

/*
 * Waits for the next stop of a resumed thread. Returns its wait(2) status, -ECHILD if the thread is
 * gone, or -ETIMEDOUT.
 */
int stopped_thread_next_stop(pid_t tid, uint64_t deadline_ns);

#endif
