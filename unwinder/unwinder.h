/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds unwind tables of files in a helper process without rights. Files are hostile input: if the
 * helper crashes or hangs, or a file is truncated during a read, only that file's table is lost.
 * Knows nothing of BPF, processes, or the use of tables; never prints.
 */
#ifndef UNWINDER_UNWINDER_H
#define UNWINDER_UNWINDER_H

#include "unwinder/server/table.h"

struct helper;
struct unwinder;

/* Creates an unwinder and starts its helper. Returns 0 or a negative errno. */
int unwinder__new(struct unwinder **ret);
void unwinder__free(struct unwinder *unwinder);

/* Returns the helper, to which walker.c also sends requests. */
struct helper *unwinder__helper(struct unwinder *unwinder);

/*
 * Maximum wait for a table, in milliseconds. The largest files take half a second, or a few seconds
 * if read from a slow disk.
 */
#define UNWINDER_WAIT_MS 10000

/*
 * Requests the table of an open file. Only one request can be pending. The caller keeps fd. Returns
 * 0 or a negative errno.
 */
int unwinder__begin(struct unwinder *unwinder, int fd);

/*
 * Returns the requested table, checked; the caller frees it with unwind_table_deinit(). Returns
 * -EAGAIN if the table was not ready by deadline_ns (CLOCK_MONOTONIC), or if memleak is about to
 * end; the request is then still pending. After any other result a new table can be requested.
 * Other errors are those in builder.h, -EIO (the helper ended while working on the file) and
 * -EPROTO (the answer is not a valid table).
 */
int unwinder__take(struct unwinder *unwinder, uint64_t deadline_ns, struct unwind_table *ret);
/* Returns the time for which the helper has waited for a processor since it was started. */
uint64_t unwinder__delay_ns(const struct unwinder *unwinder);
/* Cancels the pending request by ending the helper. */
void unwinder__give_up(struct unwinder *unwinder);

/*
 * Returns a descriptor that is readable when an answer is ready. Any other call for this unwinder
 * may replace the descriptor.
 */
int unwinder__poll_fd(const struct unwinder *unwinder);

#endif
