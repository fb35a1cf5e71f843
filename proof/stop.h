/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A moment at which no thread of a process runs: those that ran are held, those that sleep are left
 * asleep, and watched. For the process that holds them alone.
 */
#ifndef PROOF_STOP_H
#define PROOF_STOP_H

#include "proof/held_threads.h"
#include "proof/live_threads.h"
#include "proof/thread_watch.h"

struct stop {
	struct thread_watch *watch; /* NULL: this kernel has none, so all threads are held */
	pid_t pid;
	struct held_threads held;
	struct live_threads seen; /* all threads, with all registers, when the moment began */
};

/*
 * Holds all that run. wants_one: if none does, waits for one that runs for a moment, as long as
 * a quarter of a second. 0: none runs; held is empty if nobody ran before. Or a negative errno, and
 * nothing is held: -EBUSY: another process traces it; -EAGAIN: too many come and go; -ESRCH;
 * -ETIMEDOUT.
 */
int stop_begin(struct thread_watch *watch, pid_t pid, bool wants_one, uint64_t deadline_ns,
	       struct stop *ret);

/*
 * Whether nobody has run since. If somebody has, holds those, too, and begins the moment anew:
 * -EAGAIN; or another negative errno.
 */
int stop_confirm(struct stop *stop, uint64_t deadline_ns);

/* Begins the moment anew, because held threads have done something for us. 0 or a negative errno.
 */
int stop_renew(struct stop *stop, uint64_t deadline_ns);

/* A held thread after another; NULL: there are no more. last: NULL for the first. */
const struct held_thread *stop_next_held(const struct stop *stop, const struct held_thread *last);

/* Lets all go. False: some threads have not stopped yet; to be called again soon. */
bool stop_end(struct stop *stop);
void stop_deinit(struct stop *stop);

#endif
