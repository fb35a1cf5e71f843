/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions that may block for as long as a process keeps its memory map locked. A process
 * holds this lock while it waits for a file system, for example in munmap(). If the file system
 * does not answer, reads of /proc/PID/maps or /proc/PID/cmdline, and opens of files in
 * /proc/PID/map_files, block, and only SIGKILL ends them.
 *
 * A call that blocks costs its caller 2 s. After three such calls, further calls that block cost
 * 0.1 s each; every 20 s, one more call may cost 2 s. Calls for a process for which a call still
 * blocks cost nothing. If 100 processes block at the same time, their callers lose 12 s in total,
 * since 64 calls at most block.
 */
#ifndef BASE_LIMITED_CALL_H
#define BASE_LIMITED_CALL_H

#include <stddef.h>
#include <sys/types.h>

struct limited_function {
	/* Returns 0, a positive result, or a negative errno. Must not use data of other threads. */
	int (*run)(int fd, void *data);
	/* Frees a result that nobody takes. NULL if there is nothing to free. */
	void (*drop)(int result, void *data);
	size_t size; /* size of the data in bytes */
};

/*
 * Allows limited_call() to start threads in this process. Before, and in a forked child, it makes
 * all calls itself. Call this when the rights of the process have been reduced, since each thread
 * has its own.
 */
void limited_calls_begin(void);

/*
 * Calls function->run() in another thread, with copies of fd and *data, and waits for it. pid: the
 * process that may block the call. If run() has ended, copies its data back and returns its result.
 * Returns -EAGAIN if run() takes too long, if an earlier call for this process still blocks, or if
 * too many calls block: the caller should try again later.
 */
int limited_call(pid_t pid, int fd, const struct limited_function *function, void *data);

#endif
