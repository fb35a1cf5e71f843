/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the threads of any process without stopping them, using a BPF iterator. Not thread-safe.
 * Looks at one process at a time.
 */
#ifndef PROOF_THREAD_WATCH_H
#define PROOF_THREAD_WATCH_H

#include <stdbool.h>

#include "proof/live_threads.h"

struct thread_watch;

/* Loads the BPF iterator. Returns 0, or a negative errno if the kernel rejects the program. */
int thread_watch__new(struct thread_watch **ret);
void thread_watch__free(struct thread_watch *watch);

/*
 * Returns the descriptor of the BPF program. A forked process needs only this descriptor and may
 * close all others. If it has another number there, the process must call thread_watch__use_fd()
 * with the new number.
 */
int thread_watch__fd(const struct thread_watch *watch);
void thread_watch__use_fd(struct thread_watch *watch, int fd);

/*
 * Looks at all threads of a process. Tries again if threads come or go meanwhile. with_vectors:
 * true to record vector registers, too. Returns 0, -ESRCH if there is no such process, -EAGAIN if
 * threads come and go too fast, or another negative errno.
 */
int thread_watch__look(struct thread_watch *watch, pid_t pid, bool with_vectors,
		       struct live_threads *ret);

#endif
