/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the footprint of a process (memory, threads, descriptors) from files in /proc, without
 * taking the mmap lock of the process.
 */
#ifndef LOADER_TARGET_FOOTPRINT_H
#define LOADER_TARGET_FOOTPRINT_H

#include <sys/types.h>

#include "report/snapshot.h"

/*
 * Returns the footprint of a process. Counts of children, timers and queues, FOOTPRINT_UNMAPPED and
 * FOOTPRINT_TOO_YOUNG are not read and remain 0. is_known is false if the process has ended.
 */
struct footprint footprint_read(pid_t pid);

/* Counts the POSIX timers of a process; none after the first 16384. */
void footprint_read_timers(pid_t pid, struct footprint *ret);

/*
 * Counts the System V message queues of memleak's IPC namespace to which the process was the last
 * to send, or from which it was the last to receive.
 */
void footprint_read_queues(pid_t pid, struct footprint *ret);

/* Sets the parts of the footprint that count memory, from the content of /proc/PID/status. */
void footprint_parse_memory(const char *status, struct footprint *ret);

/*
 * Counts the children of pid for which is_counted() returns true; counts zombies separately.
 * memleak and the program that started it, such as sudo, are not counted. Counts nothing if the
 * kernel does not list children.
 */
void footprint_read_children(pid_t pid, bool (*is_counted)(const void *arg, pid_t child),
			     const void *arg, struct footprint *ret);

#endif
