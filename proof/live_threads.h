/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a live process at one moment, and what those have in their registers that sleep,
 * by records of a BPF program (thread_watch.h).
 */
#ifndef PROOF_LIVE_THREADS_H
#define PROOF_LIVE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/thread_record.h"
#include "proof/thread_state.h"

struct live_threads {
	const struct memleak_thread_record **items; /* by tid; those that have ended are left out */
	size_t cnt;
	size_t cap;
	char *store; /* what they point into */
	size_t store_len;
	size_t store_cap;
	pid_t reaper; /* who gets orphans of the process; 0: nobody that has a number here */
};

void live_threads_deinit(struct live_threads *threads);

/* Records that were made or gathered here: each is told that these are all. */
void live_threads_are_all(struct live_threads *threads);

/*
 * Takes records over: store of store_len bytes, in threads that are otherwise empty. 0; -EAGAIN:
 * threads came or went while they were read; -EPROTO: they make no sense; -ENOMEM.
 */
int live_threads_index(struct live_threads *threads);

/* NULL: the process has no such thread. */
const struct memleak_thread_record *live_threads_find(const struct live_threads *threads,
						      pid_t tid);

/* What the kernel does on its own for a process, such as io_uring's work, is no thread of it. */
bool live_thread_is_worker(const struct memleak_thread_record *thread);

/* Its memory does not change by this thread: it sleeps, or is the kernel's own. */
bool live_thread_rests(const struct memleak_thread_record *thread);
bool live_threads_all_rest(const struct live_threads *threads);

/* The same threads, each of which has not run since. */
bool live_threads_rested(const struct live_threads *before, const struct live_threads *after);

/* Adds their registers as words. 0 or -ENOMEM. */
int live_threads_add_states(const struct live_threads *threads, struct thread_states *states);

#endif
