/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that makes reports while the main loop serves what is traced: it names stacks and
 * writes, and gives its turn away while it waits for names (base/turns.h).
 */
#ifndef APP_REPORT_THREAD_H
#define APP_REPORT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct report_thread {
	pthread_t thread;
	int begin_fd; /* eventfd */
	int done_fd;  /* eventfd */
	bool runs;
	bool busy;
	int (*work)(void *arg); /* 0 or a negative errno; NULL: the thread is to end */
	void *arg;
	int err; /* what work returned */
};

/*
 * Starts it; the caller has its turn from then on, and is to give it away where it waits. 0 or a
 * negative errno.
 */
int report_thread_start(struct report_thread *ret);
/* Must not be called while it is busy. */
void report_thread_begin(struct report_thread *thread, int (*work)(void *arg), void *arg);
/* When done_fd is readable: what work returned. */
int report_thread_finish(struct report_thread *thread);
/* Has it hurry and waits for it, with the caller's turn given away: what work returned. */
int report_thread_hurry(struct report_thread *thread);
/*
 * Ends it, if it was started and is not busy. Only when no helper runs any more: helpers end with
 * the thread that has started them.
 */
void report_thread_stop(struct report_thread *thread);

#endif
