/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops threads of another process by ptrace, and later resumes them. The threads cannot notice
 * this: no system call is cut short, and no signal is lost. For use in the tracer only: the threads
 * resume if the tracer ends.
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
	bool stopped_by_signal; /* true if a signal such as SIGSTOP has stopped the process */
	bool gone;
};

struct stopped_threads {
	struct stopped_thread *items; /* threads, sorted by tid */
	size_t cnt;
	size_t cap;
	uint64_t since_ns; /* CLOCK_MONOTONIC time of the first PTRACE_INTERRUPT, 0 if none */
};

/* Blocks SIGCHLD in the tracer, so that it can wait for stops of threads. */
void stopped_threads_prepare(void);
/* Returns a descriptor that is readable after SIGCHLD, or a negative errno. */
int stopped_threads_signal_fd(void);
/* Discards the pending signals of a descriptor of stopped_threads_signal_fd(). */
void stopped_threads_drain_signals(int fd);

/*
 * Interrupts a thread, unless it was interrupted before. Does not wait until it stops. Returns 0,
 * also if the thread is about to end; -EBUSY if another process traces it; or -ENOMEM.
 */
int stopped_threads_add(struct stopped_threads *stopped, pid_t tid);

/*
 * Waits until all interrupted threads have stopped or ended. Returns 0, or -ETIMEDOUT if some
 * threads have not stopped by the deadline: they are in an uninterruptible system call, and stop as
 * soon as it ends.
 */
int stopped_threads_wait(struct stopped_threads *stopped, uint64_t deadline_ns);

/* Returns the entry of a thread, NULL if the thread was never interrupted. */
struct stopped_thread *stopped_threads_find(const struct stopped_threads *stopped, pid_t tid);

/*
 * Resumes the threads that have stopped. before: thread records made during the stop, or NULL.
 * False if some threads have not stopped yet; then call again soon.
 */
bool stopped_threads_resume(struct stopped_threads *stopped, const struct live_threads *before);

void stopped_threads_deinit(struct stopped_threads *stopped);

/*
 * Waits for the next stop of a resumed thread. Returns its wait(2) status, -ECHILD if the thread is
 * gone, or -ETIMEDOUT.
 */
int stopped_thread_next_stop(pid_t tid, uint64_t deadline_ns);

#endif
