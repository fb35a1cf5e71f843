/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops a process: running threads are stopped by ptrace, and sleeping threads are left alone but
 * watched. For use in the tracer only.
 */
#ifndef PROOF_STOP_H
#define PROOF_STOP_H

#include "proof/live_threads.h"
#include "proof/stopped_threads.h"
#include "proof/thread_watch.h"

struct stop {
	/*
	 * Looks at threads with a BPF program. NULL if the kernel rejects it: then all threads are
	 * stopped, because sleeping threads cannot be recognised.
	 */
	struct thread_watch *watch;
	pid_t pid;
	struct stopped_threads stopped;
	/* All threads with their registers, as recorded when the process had stopped. */
	struct live_threads seen;
};

/*
 * Stops all running threads. wants_one: true to wait up to a quarter of a second for a running
 * thread. After success, no thread runs, and ret->stopped has the stopped threads; it is empty if
 * all threads were asleep. Returns 0, -EBUSY if another process traces the process, -EAGAIN if
 * threads come and go too fast, -ESRCH, -ETIMEDOUT, or another negative errno. Call stop_end() and
 * stop_deinit() even after a failure.
 */
int stop_begin(struct thread_watch *watch, pid_t pid, bool wants_one, uint64_t deadline_ns,
	       struct stop *ret);

/*
 * Returns 0 if no thread has run since the threads were last recorded in `seen`. Otherwise stops
 * the threads that have run, records all threads anew, and returns -EAGAIN or another negative
 * errno.
 */
int stop_confirm(struct stop *stop, uint64_t deadline_ns);

/*
 * Records all threads anew in `seen`, and stops those that run. Needed after stopped threads have
 * made remote calls. Returns 0 or a negative errno.
 */
int stop_renew(struct stop *stop, uint64_t deadline_ns);

/*
 * Returns the stopped thread after `last`, or the first stopped thread if `last` is NULL. Returns
 * NULL at the end.
 */
const struct stopped_thread *stop_next_thread(const struct stop *stop,
					      const struct stopped_thread *last);

/*
 * Resumes all threads. False if some threads cannot be resumed yet, because they have not stopped
 * yet; then call again soon.
 */
bool stop_end(struct stop *stop);
void stop_deinit(struct stop *stop);

#endif
