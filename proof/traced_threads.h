/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the threads of a traced process, for kernels that reject the BPF program. Only stopped
 * threads have known registers.
 */
#ifndef PROOF_TRACED_THREADS_H
#define PROOF_TRACED_THREADS_H

#include "proof/live_threads.h"
#include "proof/stopped_threads.h"

/* Does the same as thread_watch__look(), but threads that are not stopped count as running. */
int traced_threads_look(pid_t pid, const struct stopped_threads *stopped, bool with_vectors,
			struct live_threads *ret);

#endif
