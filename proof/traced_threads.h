/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the threads of a process by ptrace and /proc, for kernels that reject the BPF program.
 * Only registers of stopped threads are known.
 */
#ifndef PROOF_TRACED_THREADS_H
#define PROOF_TRACED_THREADS_H

#include "proof/live_threads.h"
#include "proof/stopped_threads.h"

/*
 * Like thread_watch__look(), but treats threads that are not stopped as running, and does not try
 * again.
 */
int traced_threads_look(pid_t pid, const struct stopped_threads *stopped, bool with_vectors,
			struct live_threads *ret);

#endif
