/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up shared memory that a process holds, although it need not have mapped it. */
#ifndef LOADER_TARGET_SHARED_FILES_H
#define LOADER_TARGET_SHARED_FILES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the bytes of the files from memfd_create() and in /dev/shm that the process has open, of
 * other files on tmpfs that it has open for writing, each file counted once, and of the System V
 * segments that it has made and that no process has attached. Counts pages in swap as well. Skips
 * descriptors and mounts after the first 4096, and segments of IPC namespaces other than memleak's.
 * Does not ask file systems of other processes (FUSE).
 */
uint64_t shared_files_bytes(pid_t pid);

#endif
