/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of another process that are stopped by ptrace, and later resumed unnoticed: no system
 * call is cut short, and no signal is lost. For use in the tracing process only: the threads resume
 * if that process ends.
 */
#ifndef PROOF_HELD_THREADS_H
#define PROOF_HELD_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_threads.h"

struct held_thread {
	pid_t tid;
	bool stopped;
	bool stopped_by_signal; /* the process was stopped by a signal such as SIGSTOP */
	bool gone;
};

struct held_threads {
	struct held_thread *items; /* sorted by tid */
	size_t cnt;
	size_t cap;
	uint64_t since_ns; /* time of the first PTRACE_INTERRUPT, 0 if none */
};

/* Blocks SIGCHLD, which reports stops. */
void held_threads_prepare(void);
/* Returns a descriptor that is readable after SIGCHLD, or a negative errno. */
int held_threads_news_fd(void);
/* Discards pending signals of the descriptor. */
void held_threads_drop_news(int fd);

/*
 * Interrupts a thread, unless that was done before. Returns 0, -EBUSY if another process traces the
 * thread, or -ENOMEM. Ignores a thread that is about to end.
 */
int held_threads_add(struct held_threads *held, pid_t tid);

/*
 * Waits until all threads have stopped. Returns -ETIMEDOUT if some threads are in an
 * uninterruptible system call; they stop as soon as the call ends.
 */
int held_threads_wait(struct held_threads *held, uint64_t deadline_ns);

/* Returns the entry of a thread, NULL if the thread was never interrupted. */
struct held_thread *held_threads_find(const struct held_threads *held, pid_t tid);

/*
 * Resumes the threads that have stopped. before: registers recorded by the BPF program during the
 * stop, or NULL. Returns true if all threads have resumed; otherwise, call again soon.
 */
bool held_threads_let_go(struct held_threads *held, const struct live_threads *before);

void held_threads_deinit(struct held_threads *held);

/*
 * Waits for the next stop of a resumed thread. Returns its wait(2) status, -ECHILD if the thread is
 * gone, or -ETIMEDOUT.
 */
int held_thread_next_stop(pid_t tid, uint64_t deadline_ns);

#endif
