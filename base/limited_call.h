/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions that may block for as long as a file system does not answer. A process that waits
 * for it in munmap() keeps its memory map locked: a thread that reads /proc/PID/maps,
 * /proc/PID/pagemap or /proc/PID/cmdline, or opens a file in /proc/PID/map_files, blocks until it
 * gets SIGKILL. So does a thread that opens /proc/PID/mem or calls kcmp() while the process waits
 * in exec.
 *
 * A call that blocks is given up after 2 s. After three such calls, calls are given up after 0.1 s;
 * every 20 s, one more call may take 2 s. While a call for a process blocks, further calls for this
 * process fail at once. While 64 calls for processes of one user block, all further calls for this
 * user's processes fail at once: even if 100 of them block at the same time, memleak loses only
 * 12 s in total, and still reads the processes of other users. At most 256 calls block in all.
 */
#ifndef BASE_LIMITED_CALL_H
#define BASE_LIMITED_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct limited_function {
	/*
	 * Returns 0, a positive result, or a negative errno. Runs in another thread, so it must
	 * use only fd and *data.
	 */
	int (*run)(int fd, void *data);
	/* Frees the result of a call that was given up. NULL if results need not be freed. */
	void (*drop)(int result, void *data);
	size_t size; /* size of *data in bytes */
};

/*
 * Allows limited_call() to start threads in this process. Before this call, and in a forked child,
 * limited_call() runs each function in the calling thread, without a time limit. Call this after
 * the process has dropped its capabilities: each thread has its own, and later threads inherit the
 * reduced set.
 */
void limited_calls_begin(void);

/*
 * Calls function->run() in another thread, with copies of fd and *data, and waits for it. Then
 * copies run()'s data back to *data, and returns run()'s result. pid: the process whose locks run()
 * needs, or a negative number that stands for a path. Returns -EAGAIN if run() takes too long, if
 * an earlier call for this process still blocks, or if too many calls block: the caller should try
 * again later.
 */
int limited_call(pid_t pid, int fd, const struct limited_function *function, void *data);

/*
 * Calls function->run(-1, &pid) for each process, up to 64 at the same time, so that the time
 * limits of calls that block run at the same time, too. Ignores the results. Afterwards, other
 * calls for processes whose calls still block fail at once.
 */
void limited_calls_share_waits(const pid_t *pids, size_t cnt,
			       const struct limited_function *function);

/* True if a call was given up and still blocks. */
bool limited_calls_are_blocked(void);

/*
 * True if a call for this process would fail because of calls for other processes, most of them its
 * user's.
 */
bool limited_calls_are_crowded(pid_t pid);

#endif
