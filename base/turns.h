/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fair lock for two threads that share all data: only the thread that owns the lock runs, and
 * threads get the lock in the order of their requests. No other locks are needed.
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <poll.h>
#include <stdbool.h>

/* Acquires the lock. */
void turn_take(void);
/* Releases the lock. */
void turn_give(void);

/*
 * From now on, turn_poll() releases the lock while the calling thread waits. The calling thread
 * must own the lock.
 */
void turn_share(void);
/*
 * Undoes turn_share(). Call first in a child forked from a thread that shares the lock: the child
 * has only one thread.
 */
void turn_forget(void);
/*
 * Calls poll(2) for one descriptor; returns 0 early if turn_hurry() was called. If the thread has
 * called turn_share(), releases the lock meanwhile, so that shared data may have changed.
 */
int turn_poll(struct pollfd *fd, int timeout_ms);

/*
 * With true, ends waits of threads that have called turn_share(); with false, lets them wait again.
 */
void turn_hurry(bool hurry);
/* True if the calling thread has called turn_share() and should not wait, due to turn_hurry(). */
bool turn_is_hurried(void);

#endif
