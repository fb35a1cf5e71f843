/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the shared memory that a process has open or has created, whether mapped or not. */
#ifndef LOADER_TARGET_SHARED_FILES_H
#define LOADER_TARGET_SHARED_FILES_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Returns the total bytes of three kinds of shared memory: files from memfd_create() and in
 * /dev/shm that the process has open; other files on tmpfs that it has open for writing; and System
 * V segments that it has created and to which no process is attached. Counts each file once, and
 * includes pages in swap. Skips descriptors after the first OPEN_FDS_MAX, and of those, all but
 * the first 4096 that are memory or files open for writing; mounts after the first 4096; and
 * segments of IPC namespaces other than memleak's. Does not query file systems that a process
 * serves (FUSE), since the server may not answer. except: memleak's descriptor of a file that is
 * not counted; -1 if all files are counted.
 */
uint64_t shared_files_bytes(pid_t pid, int except);

/*
 * Returns the bytes of a user's System V segments that were made after `since`, whose creator has
 * ended, and to which no process is attached. Only those of memleak's IPC namespace count.
 */
uint64_t shared_files_left_bytes(uid_t user, time_t since);

#endif
