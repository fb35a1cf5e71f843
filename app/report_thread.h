/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that makes reports while the main loop serves what is traced: it names stacks and
 * writes, and gives its turn away while it waits for names or for a reader (base/turns.h).
 */
#ifndef APP_REPORT_THREAD_H
#define APP_REPORT_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct report_thread {
	pthread_t thread;
	int (*work)(void *arg); /* 0 or a negative errno */
	void *arg;
	int begin_fd; /* eventfd; so are the others */
	int done_fd;
	bool runs;
	bool busy;
	bool end;
	int err; /* what work returned */
};

/*
 * Starts it; the caller has its turn from then on, and is to give it away where it waits. The
 * thread stays until it is stopped, as helpers end with the thread that has started them. 0 or a
 * negative errno; to be stopped either way.
 */
int report_thread_start(struct report_thread *ret, int (*work)(void *arg), void *arg);
/* Unless it is busy. */
void report_thread_begin(struct report_thread *thread);
/* When done_fd is readable: what work returned. */
int report_thread_finish(struct report_thread *thread);
/* Has it hurry and waits for it, with the caller's turn given away: what work returned. */
int report_thread_hurry(struct report_thread *thread);
/* Ends it, idle or not. */
void report_thread_stop(struct report_thread *thread);

#endif
