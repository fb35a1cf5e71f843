/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fair lock for two threads that share all data: only its owner runs, and threads get it in the
 * order in which they asked. No other locks are needed.
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <poll.h>
#include <stdbool.h>

/* Acquires the lock. */
void turn_take(void);
/* Releases the lock. */
void turn_give(void);

/* Lets the calling thread, which owns the lock, release it during turn_poll() from now on. */
void turn_share(void);
/*
 * Undoes turn_share(). Call first in a child forked from a sharing thread: it has no other thread.
 */
void turn_forget(void);
/*
 * Calls poll(2) for one descriptor; returns 0 early if turn_hurry() was called. A sharing thread
 * releases the lock meanwhile, so shared data may have changed.
 */
int turn_poll(struct pollfd *fd, int timeout_ms);

/* Makes sharing threads stop waiting (true), or lets them wait again (false). */
void turn_hurry(bool hurry);
/* True if the calling thread shares and should not wait. */
bool turn_is_hurried(void);

#endif
