/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a live process at one moment, with the registers of those that sleep, from records
 * of a BPF program (thread_watch.h), or similar records made by ptrace (traced_threads.h).
 */
#ifndef PROOF_LIVE_THREADS_H
#define PROOF_LIVE_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bpf/thread_record.h"
#include "proof/thread_state.h"

struct live_threads {
	/* records of threads that have not ended, sorted by tid */
	const struct memleak_thread_record **items;
	size_t cnt;
	size_t cap;
	char *store; /* buffer that contains the records */
	size_t store_len;
	size_t store_cap;
	/*
	 * pid of the reaper, the process that adopts this process's orphans; 0 if the reaper has no
	 * pid in this namespace.
	 */
	pid_t reaper;
};

void live_threads_deinit(struct live_threads *threads);

/*
 * Sets the thread count in all records in `store`. The BPF iterator of thread_watch.h has set it in
 * its own records.
 */
void live_threads_set_count(struct live_threads *threads);

/*
 * Fills in the empty `items` from the records in `store`. Returns 0, -ESRCH if there are no
 * records, -EAGAIN if threads came or went while the records were made, -EPROTO if records are
 * invalid, or -ENOMEM.
 */
int live_threads_index(struct live_threads *threads);

/* Returns the record of a thread, NULL if the process has no such thread. */
const struct memleak_thread_record *live_threads_find(const struct live_threads *threads,
						      pid_t tid);

/* True for kernel threads of the process, such as io_uring workers. */
bool live_thread_is_worker(const struct memleak_thread_record *thread);

/* True if the thread does not change memory, because it sleeps or is a kernel thread. */
bool live_thread_is_idle(const struct memleak_thread_record *thread);
bool live_threads_are_idle(const struct live_threads *threads);

/*
 * True if `before` and `after` have the same threads, all idle both times, and none has run in
 * between. Kernel threads may have run.
 */
bool live_threads_stayed_idle(const struct live_threads *before, const struct live_threads *after);

/*
 * Adds the states of all threads except kernel threads. A state has registers only if the thread is
 * idle and its record contains registers. Returns 0 or -ENOMEM.
 */
int live_threads_add_states(const struct live_threads *threads, struct thread_states *states);

#endif
