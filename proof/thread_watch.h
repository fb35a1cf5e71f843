/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the threads of any process without stopping one, by a BPF program. Not for several
 * threads or processes at a time.
 */
#ifndef PROOF_THREAD_WATCH_H
#define PROOF_THREAD_WATCH_H

#include <stdbool.h>

#include "proof/live_threads.h"

struct thread_watch;

/* 0 or a negative errno: this kernel takes no such program. */
int thread_watch__new(struct thread_watch **ret);
void thread_watch__free(struct thread_watch *watch);

/* The one file that it needs; a process that was forked may have it elsewhere. */
int thread_watch__fd(const struct thread_watch *watch);
void thread_watch__use_fd(struct thread_watch *watch, int fd);

/*
 * Looks once. 0 or a negative errno: -ESRCH: there is no such process; -EAGAIN: threads come and go
 * too fast.
 */
int thread_watch__look(struct thread_watch *watch, pid_t pid, bool with_vectors,
		       struct live_threads *ret);

#endif
