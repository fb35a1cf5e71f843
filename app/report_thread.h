/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes reports in a thread, while the main loop serves the traced processes. The thread looks up
 * names and writes the report. While the thread waits for names, it lets the main loop run
 * (base/fair_lock.h).
 */
#ifndef APP_REPORT_THREAD_H
#define APP_REPORT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct report_thread {
	pthread_t thread;
	int begin_fd; /* eventfd: requests work */
	int done_fd;  /* eventfd: signals the end of the work */
	bool runs;
	bool busy;
	/* The work, which returns 0 or a negative errno; NULL ends the thread. */
	int (*work)(void *arg);
	void *arg;
	int err; /* return value of the work */
};

/*
 * Starts the thread. Afterwards the caller owns the lock of base/fair_lock.h, and must release it
 * before each wait. Returns 0 or a negative errno.
 */
int report_thread_start(struct report_thread *ret);
/* Requests work from the thread, which must not be busy. */
void report_thread_begin(struct report_thread *thread, int (*work)(void *arg), void *arg);
/* Returns the result of the work. Must be called when done_fd is readable. */
int report_thread_finish(struct report_thread *thread);
/*
 * Makes the thread finish its work without further waits, and releases the lock until then. Returns
 * the result of the work.
 */
int report_thread_finish_now(struct report_thread *thread);
/*
 * Ends the thread, if it was started. The thread must not be busy. Must be called after all helpers
 * have ended, because a helper ends when the thread that started it does.
 */
void report_thread_stop(struct report_thread *thread);

#endif
