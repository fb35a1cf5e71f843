/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the resident memory of a process by use. A helper process without rights reads the heap.
 */
#ifndef PROOF_RSS_READER_H
#define PROOF_RSS_READER_H

#include <stdint.h>
#include <sys/types.h>

#include "options/options.h"
#include "proof/rss_reading.h"
#include "report/snapshot.h"

/*
 * Counts the resident memory of a process while it runs. deadline_ns: by CLOCK_MONOTONIC. Returns
 * 0; the errno of a failure to open files in /proc/PID (-ENOENT, -ESRCH, -EACCES ...); -ETIMEDOUT
 * after the deadline; -EINTR if memleak was asked to end; -E2BIG if there are too many mappings;
 * -EPIPE if the helper process ended; or another negative errno, e.g. -ENOMEM.
 */
int rss_read(pid_t pid, uint64_t deadline_ns, struct rss *ret);

/*
 * Uses the paths of --own in all later readings, to find the lines of Python's growing classes in
 * the program's own scripts. opts: must outlive the readings.
 */
void rss_use_own(const struct options *opts);

/*
 * Begins to read the memory of the process of `tally`. heap: all blocks of the process that were
 * allocated since tracing began, so that all other blocks are known to be older; NULL if not all of
 * these blocks are known. counts_objects: true to also find Python's growing classes and
 * containers, which only works if no other process is read between two readings of this one. copy:
 * pid of a copy of the process, which does not run, 0 if there is none. The heap is read from the
 * copy, so the caller must keep the copy until rss_take() returns the result. Call rss_take()
 * before reading another process. Returns 0 or an errno of rss_read().
 */
int rss_begin(const struct process_tally *tally, const struct heap *heap, bool counts_objects,
	      pid_t copy, uint64_t deadline_ns);

/*
 * Waits for the result of rss_begin(). Returns 0 or an errno of rss_read(). After -ETIMEDOUT,
 * reading continues, and a later call can get the result; after any other error, reading has
 * stopped.
 */
int rss_take(uint64_t deadline_ns, struct rss_reading *ret);

/* Stops reading, and ends the helper process. */
void rss_stop(void);

#endif
