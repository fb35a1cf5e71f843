/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a process has in memory: its heap is read in a process without rights. */
#ifndef PROOF_RSS_READER_H
#define PROOF_RSS_READER_H

#include <stdint.h>
#include <sys/types.h>

#include "report/rss.h"

/*
 * Divides the resident memory of a process, which runs on. Fails with what opening files of
 * /proc/PID says (-ENOENT, -ESRCH, -EACCES ...), -ETIMEDOUT after the deadline, by
 * CLOCK_MONOTONIC, -EINTR if memleak is to end, -E2BIG for too many mappings, -EPIPE if the reading
 * process ended, -ENOMEM.
 */
int rss_read(pid_t pid, uint64_t deadline_ns, struct rss *ret);

/* Begins to read; the answer is taken before another process is asked for. Fails as rss_read(). */
int rss_begin(pid_t pid, uint64_t deadline_ns);

/*
 * Waits for the answer. -ETIMEDOUT: reading goes on, and a later call may take the answer. After
 * any other error, reading has been stopped.
 */
int rss_take(uint64_t deadline_ns, struct rss *ret);

/* Stops reading. */
void rss_stop(void);

#endif
