/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of memleak's own that stops threads of others, and makes copies. While a thread does
 * something for us its registers are ours; so this process does not end with memleak, whatever
 * happens to that, but when all is as it was.
 */
#ifndef PROOF_TRACER_H
#define PROOF_TRACER_H

#include <stdint.h>

#include "proof/thread_watch.h"
#include "proof/tracer_order.h"

struct tracer;

/*
 * Starts it, with the memory that memleak has now. watch may be NULL, and is not to be used while
 * the tracer works. 0 or a negative errno.
 */
int tracer__new(struct thread_watch *watch, struct tracer **ret);
void tracer__free(struct tracer *tracer);

/* 0: it does not run. */
pid_t tracer__pid(const struct tracer *tracer);

/*
 * One thing at a time, until tracer__let_go(). 0 or a negative errno, as picture_taker__take() has
 * it. -EPIPE: the tracer is gone, or does not answer in time; it can be tried again.
 */
int tracer__take(struct tracer *tracer, const struct tracer_order *order,
		 struct tracer_answer *ret);

/*
 * Has a process stand still at its end; it must not be traced yet. The next tracer__take() of it is
 * then TRACER_ENDED. fd, which stays the caller's, is an eventfd that tells of it. 0 or a negative
 * errno.
 */
int tracer__watch_end(struct tracer *tracer, pid_t pid, int fd);

/* Ends a copy, and lets threads go. For how long they stood still in all, in ns. */
uint64_t tracer__let_go(struct tracer *tracer);

#endif
