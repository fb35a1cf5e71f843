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

/* For others that ask the same process: walker.h. */
struct helper *unwinder__helper(struct unwinder *unwinder);

/* The largest files take half a second; from a slow disk a few. */
#define UNWINDER_WAIT_MS 10000

/*
 * The table of an open file, checked; to be given to unwind_table_deinit. Waits for it. Besides
 * what builder.h says: -EIO (the helper ended over it), -ETIMEDOUT (it took longer than until
 * deadline_ns, a moment of CLOCK_MONOTONIC, and was ended), -EPROTO (what it gave is no table).
 */
int unwinder__table(struct unwinder *unwinder, int fd, uint64_t deadline_ns,
		    struct unwind_table *ret);

#endif
