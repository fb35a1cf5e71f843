/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that makes reports, while the main loop serves the traced processes. Making a report
 * includes looking up names and writing the output. While the thread waits for names, it releases
 * the lock of base/fair_lock.h, so that the main loop can run.
 */
#ifndef APP_REPORT_THREAD_H
#define APP_REPORT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct report_thread {
	pthread_t thread;
	int begin_fd; /* eventfd by which work is requested */
	int done_fd;  /* eventfd that signals that the work is done */
	bool runs;
	bool busy;
	/* The work to do, which returns 0 or a negative errno; NULL if the thread is to end. */
	int (*work)(void *arg);
	void *arg;
	int err; /* return value of the work */
};

/*
 * Starts the thread. Afterwards the calling thread owns the lock of base/fair_lock.h, and must
 * release it before each wait. Returns 0 or a negative errno.
 */
int report_thread_start(struct report_thread *ret);
/* The thread must not be busy. */
void report_thread_begin(struct report_thread *thread, int (*work)(void *arg), void *arg);
/* Returns the result of the work. Must be called when done_fd is readable. */
int report_thread_finish(struct report_thread *thread);
/*
 * Makes the thread finish its work without waiting for names. Releases the lock until then. Returns
 * the result of the work.
 */
int report_thread_finish_now(struct report_thread *thread);
/*
 * Ends the thread, if it was started. The thread must not be busy. Must be called after all helper
 * processes have ended, because a helper ends together with the thread that started it.
 */
void report_thread_stop(struct report_thread *thread);

#endif
