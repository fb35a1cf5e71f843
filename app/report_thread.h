/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs reports in a thread while the main loop serves the traced processes. The thread looks up
 * names and writes the report. While it waits for names, it gives up its turn (base/turns.h).
 */
#ifndef APP_REPORT_THREAD_H
#define APP_REPORT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct report_thread {
	pthread_t thread;
	int begin_fd; /* eventfd that starts work */
	int done_fd;  /* eventfd that signals the end of work */
	bool runs;
	bool busy;
	int (*work)(void *arg); /* returns 0 or a negative errno; NULL ends the thread */
	void *arg;
	int err; /* result of work */
};

/*
 * Starts the thread. The caller then holds the turn, and must give it up wherever it waits. Returns
 * 0 or a negative errno.
 */
int report_thread_start(struct report_thread *ret);
/* Starts work in the thread, which must not be busy. */
void report_thread_begin(struct report_thread *thread, int (*work)(void *arg), void *arg);
/* Returns the result of work. Called when done_fd is readable. */
int report_thread_finish(struct report_thread *thread);
/* Makes the thread hurry, waits for it without holding the turn, and returns the result of work. */
int report_thread_hurry(struct report_thread *thread);
/*
 * Ends the thread if it was started; it must not be busy. Call this after all helpers have ended,
 * because helpers end with the thread that started them.
 */
void report_thread_stop(struct report_thread *thread);

#endif
