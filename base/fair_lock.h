/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fair lock for two threads that share all data: only the thread that owns the lock runs, and
 * threads get the lock in the order of their requests. No other locks are needed.
 */
#ifndef BASE_FAIR_LOCK_H
#define BASE_FAIR_LOCK_H

#include <poll.h>
#include <stdbool.h>

/* Acquires the lock. */
void fair_lock_acquire(void);
/* Releases the lock. */
void fair_lock_release(void);

/*
 * From now on, fair_lock_poll() releases the lock while the calling thread waits. The calling
 * thread must own the lock.
 */
void fair_lock_begin_sharing(void);
/*
 * Undoes fair_lock_begin_sharing(). If a thread that shares the lock forks, the child must call
 * this function first, because the child has only one thread.
 */
void fair_lock_end_sharing(void);
/*
 * Calls poll(2) for one descriptor. If the thread has called fair_lock_begin_sharing(), releases
 * the lock during the wait, so that the other thread may change shared data. After
 * fair_lock_interrupt(true), ends that wait early and returns 0.
 */
int fair_lock_poll(struct pollfd *fd, int timeout_ms);

/*
 * If `interrupt` is true, fair_lock_poll() returns early in threads that have called
 * fair_lock_begin_sharing(). If it is false, these threads can wait again.
 */
void fair_lock_interrupt(bool interrupt);
/*
 * True if the calling thread has called fair_lock_begin_sharing(), and fair_lock_interrupt(true)
 * forbids it to wait.
 */
bool fair_lock_is_interrupted(void);

#endif
