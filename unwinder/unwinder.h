/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of files, built in a helper process without rights: files are hostile input, so a
 * crash, a hang or a file that shrinks while it is read costs that file's table and nothing else.
 * Knows nothing of BPF, of processes or of what tables are for; never prints.
 */
#ifndef UNWINDER_UNWINDER_H
#define UNWINDER_UNWINDER_H

#include "unwinder/server/table.h"

struct helper;
struct unwinder;

/* Starts the helper. 0 or a negative errno. */
int unwinder__new(struct unwinder **ret);
void unwinder__free(struct unwinder *unwinder);

/* For others that ask such a process: walker.h. */
struct helper *unwinder__helper(struct unwinder *unwinder);

/* The largest files take half a second; from a slow disk a few. */
#define UNWINDER_WAIT_MS 10000

/* Has the table of an open file made: one at a time. fd stays the caller's. 0 or a negative errno.
 */
int unwinder__begin(struct unwinder *unwinder, int fd);

/*
 * That table, checked; to be given to unwind_table_deinit. -EAGAIN: it was not there by
 * deadline_ns, a moment of CLOCK_MONOTONIC, or memleak is to end; the helper goes on. After
 * anything else it can have the next table made. Besides what builder.h says: -EIO (the helper
 * ended over the file), -EPROTO (what it gave is no table).
 */
int unwinder__take(struct unwinder *unwinder, uint64_t deadline_ns, struct unwind_table *ret);
/* Nobody waits for that table any more: the helper is ended. */
void unwinder__give_up(struct unwinder *unwinder);

/* Readable when there is something to take. Another one after each call of the above. */
int unwinder__poll_fd(const struct unwinder *unwinder);

#endif
