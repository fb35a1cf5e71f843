/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads of a process had in their registers that have ended because the process does, by a
 * BPF program. Of one process, from before its end.
 */
#ifndef PROOF_ENDED_THREADS_H
#define PROOF_ENDED_THREADS_H

#include <sys/types.h>

#include "proof/live_threads.h"

struct ended_threads;

/* Begins to watch for the end of pid. 0 or a negative errno: this kernel takes no such program. */
int ended_threads__new(pid_t pid, struct ended_threads **ret);
void ended_threads__free(struct ended_threads *ended);

/* Adds those that have ended until now, once. 0 or a negative errno. */
int ended_threads__take(struct ended_threads *ended, struct thread_states *states);

#endif
