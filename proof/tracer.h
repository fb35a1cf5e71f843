/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracer: a helper process that stops threads of other processes, and copies processes. While a
 * thread makes remote calls, its registers are overwritten. So if memleak ends, the tracer still
 * runs until it has restored all registers.
 */
#ifndef PROOF_TRACER_H
#define PROOF_TRACER_H

#include <stdint.h>

#include "proof/thread_watch.h"
#include "proof/tracer_order.h"

struct tracer;

/*
 * Starts the tracer by forking, so the tracer has a copy of memleak's memory at this time. watch:
 * used by the tracer to look at threads, may be NULL; memleak must not use it at the same time as
 * the tracer. Returns 0; -EOPNOTSUPP if watch is NULL but needed on this architecture (see
 * registers_keep_argument); or another negative errno.
 */
int tracer__new(struct thread_watch *watch, struct tracer **ret);
void tracer__free(struct tracer *tracer);

/* Returns the pid of the tracer, 0 if it does not run. */
pid_t tracer__pid(const struct tracer *tracer);

/*
 * Prepares a picture of a process: stops its running threads, or makes a copy of it; does neither
 * if all its threads sleep. Call tracer__release() before the next call of this function. Returns 0
 * or the errors of picture_taker__take(). After -EPIPE (the tracer is gone, or did not answer in
 * time), the call may be repeated.
 */
int tracer__take(struct tracer *tracer, const struct tracer_order *order,
		 struct tracer_answer *ret);

/*
 * Makes a process stop at its exit. The process must not be traced yet. After the stop,
 * tracer__take() for this process answers TRACER_ENDED. notes_threads: true to make it return
 * -EOPNOTSUPP instead if the process, which has one thread now, has had others by then. fd: eventfd
 * that is signalled at the stop; the caller keeps ownership. Returns 0 or a negative errno.
 */
int tracer__watch_end(struct tracer *tracer, pid_t pid, bool notes_threads, int fd);

/*
 * Kills the copy, if there is one, and resumes the threads, including a thread that is stopped at
 * the exit of its process. Returns the total time for which threads were stopped, in nanoseconds.
 */
uint64_t tracer__release(struct tracer *tracer);

#endif
