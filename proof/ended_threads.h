/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the registers of threads that ended because their process exited; a BPF program records
 * them. Watches one process.
 */
#ifndef PROOF_ENDED_THREADS_H
#define PROOF_ENDED_THREADS_H

#include <sys/types.h>

#include "proof/live_threads.h"

struct ended_threads;

/*
 * Begins to watch for the end of the process `pid`. Returns 0 or a negative errno, e.g. if the
 * kernel rejects the BPF program.
 */
int ended_threads__new(pid_t pid, struct ended_threads **ret);
void ended_threads__free(struct ended_threads *ended);

/*
 * Adds to `states` the threads that have ended since the previous call. Returns 0 or a negative
 * errno.
 */
int ended_threads__take(struct ended_threads *ended, struct thread_states *states);

#endif
