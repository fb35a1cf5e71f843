/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads of another process that stand still, by ptrace, and go on as if nothing had been: no
 * system call of theirs ends early, and no signal is lost. For the process that holds them alone;
 * should that end, they go on.
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
	bool stopped_by_signal; /* of its whole process, as by SIGSTOP */
	bool gone;
};

struct held_threads {
	struct held_thread *items; /* by tid */
	size_t cnt;
	size_t cap;
	uint64_t since_ns; /* when the first was told to stop; 0: none was */
};

/* SIGCHLD is to be blocked, which tells of stops. */
void held_threads_prepare(void);
/* A descriptor that is readable when there was such a signal, or a negative errno. */
int held_threads_news_fd(void);
/* Reads what is there. */
void held_threads_drop_news(int fd);

/*
 * Tells a thread to stop, unless it has been told. 0 or a negative errno: -EBUSY: another process
 * traces it; -ENOMEM. One that is about to end is left alone.
 */
int held_threads_add(struct held_threads *held, pid_t tid);

/*
 * Waits until all have stopped. -ETIMEDOUT: some have not: what they do in the kernel cannot be
 * interrupted. They stop as soon as it ends.
 */
int held_threads_wait(struct held_threads *held, uint64_t deadline_ns);

/* NULL: it was never told to stop. */
struct held_thread *held_threads_find(const struct held_threads *held, pid_t tid);

/*
 * Lets those go that have stopped. before: registers as the BPF program saw them during the stop,
 * or NULL. True: none is left; else this is to be called again soon, until then.
 */
bool held_threads_let_go(struct held_threads *held, const struct live_threads *before);

void held_threads_deinit(struct held_threads *held);

/*
 * Waits for the next stop of a thread that goes on. Its status as wait(2) has it, or a negative
 * errno: -ECHILD: it is gone; -ETIMEDOUT.
 */
int held_thread_next_stop(pid_t tid, uint64_t deadline_ns);

#endif
