/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds files' unwind tables in a helper process without rights: files are hostile input, so a
 * crash, a hang or a file truncated during a read costs that file's table and nothing else. Knows
 * nothing of BPF, processes, or the use of tables; never prints.
 */
#ifndef UNWINDER_UNWINDER_H
#define UNWINDER_UNWINDER_H

#include "unwinder/server/table.h"

struct helper;
struct unwinder;

/* Starts the helper. Returns 0 or a negative errno. */
int unwinder__new(struct unwinder **ret);
void unwinder__free(struct unwinder *unwinder);

/* Returns the helper, which walker.c also sends requests to. */
struct helper *unwinder__helper(struct unwinder *unwinder);

/*
 * Maximum time to wait for a table, in milliseconds. The largest files take half a second, or a few
 * seconds from a slow disk.
 */
#define UNWINDER_WAIT_MS 10000

/*
 * Requests the table of an open file; only one request at a time. The caller keeps fd. Returns 0 or
 * a negative errno.
 */
int unwinder__begin(struct unwinder *unwinder, int fd);

/*
 * Returns the requested table, checked; the caller frees it with unwind_table_deinit(). -EAGAIN:
 * the table was not ready by deadline_ns (CLOCK_MONOTONIC), or memleak is to end; the helper
 * continues. After any other result a new table can be requested. Errors are those in builder.h,
 * -EIO (the helper ended over the file) and -EPROTO (the answer is no valid table).
 */
int unwinder__take(struct unwinder *unwinder, uint64_t deadline_ns, struct unwind_table *ret);
/* Cancels the requested table by ending the helper. */
void unwinder__give_up(struct unwinder *unwinder);

/* Returns a descriptor that is readable when an answer is ready. The calls above may change it. */
int unwinder__poll_fd(const struct unwinder *unwinder);

#endif
