/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the resident memory of a process by use. A helper process without rights reads the heap.
 */
#ifndef PROOF_RSS_READER_H
#define PROOF_RSS_READER_H

#include <stdint.h>
#include <sys/types.h>

#include "proof/rss_reading.h"
#include "report/snapshot.h"

/*
 * Counts the resident memory of a process while it runs. deadline_ns: by CLOCK_MONOTONIC. Returns
 * 0; an errno of opening files in /proc/PID (-ENOENT, -ESRCH, -EACCES ...); -ETIMEDOUT after the
 * deadline; -EINTR if memleak is to end; -E2BIG if there are too many mappings; -EPIPE if the
 * helper process ended; or -ENOMEM.
 */
int rss_read(pid_t pid, uint64_t deadline_ns, struct rss *ret);

/*
 * Begins to read a process. heap: all blocks of the process that were allocated since tracing
 * began, so that all others are older; NULL if these blocks are not all known. counts_objects: also
 * count the growth of Python's objects, which only works if no other process is read in between.
 * copy: pid of a copy of the process that does not run, 0 if there is none; its heap is read
 * instead, so it must exist until the result is there. Call rss_take() before reading another
 * process. Returns 0 or an errno of rss_read().
 */
int rss_begin(const struct process_tally *tally, const struct heap *heap, bool counts_objects,
	      pid_t copy, uint64_t deadline_ns);

/*
 * Waits for the result of rss_begin(). Returns 0 or an errno of rss_read(). After -ETIMEDOUT,
 * reading continues, and a later call can get the result; after any other error, reading has
 * stopped.
 */
int rss_take(uint64_t deadline_ns, struct rss_reading *ret);

/* Stops reading. */
void rss_stop(void);

#endif
