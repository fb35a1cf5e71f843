/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The open descriptors of a process, as /proc lists them. */
#ifndef LOADER_TARGET_OPEN_FDS_H
#define LOADER_TARGET_OPEN_FDS_H

#include <sys/types.h>

#include "base/bits.h"

/* Maximum entries of /proc/PID/fd that are read to add up files or sockets, or to count them. */
#define OPEN_FDS_MAX 65536

/*
 * Reads the numbers of the open descriptors into *ret, which is emptied first. Returns 0; -ENOENT
 * if none are open, as in a process that is ending; -ETIMEDOUT after deadline_ns (CLOCK_MONOTONIC);
 * or another negative errno.
 */
int open_fds_read(pid_t pid, uint64_t deadline_ns, struct bits *ret);

#endif
