/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns of two threads that share all they have: only the one whose turn it is runs, and they have
 * turns in the order in which they ask. Nothing else needs a lock.
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <poll.h>
#include <stdbool.h>

/* Waits for its turn. */
void turn_take(void);
/* Lets another thread have a turn. */
void turn_give(void);

/* From now on the calling thread, whose turn it is, gives it away while it is in turn_poll(). */
void turn_share(void);
/* To be called first in a process that such a thread has forked: it has no other thread. */
void turn_forget(void);
/*
 * poll(2) of one descriptor, which returns 0 early when the thread is to hurry. What is shared may
 * have changed meanwhile.
 */
int turn_poll(struct pollfd *fd, int timeout_ms);

/* Tells threads that share to stop waiting, or to wait again. */
void turn_hurry(bool hurry);
/* Of the calling thread: false unless it shares. */
bool turn_is_hurried(void);

#endif
