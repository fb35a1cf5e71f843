/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process whose tracer we are, for kernels that take no program to look at them:
 * of those that are held all is known, of others nothing.
 */
#ifndef PROOF_TRACED_THREADS_H
#define PROOF_TRACED_THREADS_H

#include "proof/held_threads.h"
#include "proof/live_threads.h"

/* As thread_watch__look() does. Threads that are not held are shown as if they ran. */
int traced_threads_look(pid_t pid, const struct held_threads *held, bool with_vectors,
			struct live_threads *ret);

#endif
