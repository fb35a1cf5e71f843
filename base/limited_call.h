/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls functions that may block for as long as a process keeps its memory map locked. A process
 * holds this lock while it waits for a file system, for example in munmap(). If the file system
 * does not answer, reads of /proc/PID/maps or /proc/PID/cmdline, and opens of files in
 * /proc/PID/map_files, block, and only SIGKILL ends them.
 */
#ifndef BASE_LIMITED_CALL_H
#define BASE_LIMITED_CALL_H

#include <sys/types.h>

/*
 * Allows limited_call() to start threads in this process. Before, and in a forked child, it makes
 * all calls itself. Call this when the rights of the process have been reduced, since each thread
 * has its own.
 */
void limited_calls_begin(void);

/*
 * Calls run(arg) in another thread and waits for it: a few seconds, or a fraction of a second while
 * other calls block. pid: the process that may block the call. Returns 0 if run() has ended, or
 * -ETIMEDOUT. Returns -EBUSY, without calling run(), if an earlier call for this process still
 * blocks, or if too many calls block. After an error, arg is no longer the caller's: drop(arg) is
 * called after run(), or at once if run() is not called. run() must use no data that other threads
 * change.
 */
int limited_call(pid_t pid, void (*run)(void *arg), void (*drop)(void *arg), void *arg);

#endif
