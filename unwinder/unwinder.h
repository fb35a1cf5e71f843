/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of files, built in a helper process without rights: files are hostile input, so a
 * crash, a hang or a file that shrinks while it is read costs that file's table and nothing else.
 * Knows nothing of BPF, of processes or of what tables are for; never prints.
 */
#ifndef UNWINDER_H
#define UNWINDER_H

#include "unwinder/table.h"

struct unwinder;

/* Starts the helper. 0 or a negative errno. */
int unwinder__new(struct unwinder **ret);
void unwinder__free(struct unwinder *unwinder);

/* The largest files take half a second; from a slow disk a few. */
#define UNWINDER_WAIT_MS 10000

/*
 * The table of an open file, checked; to be given to unwind_table_deinit. Waits for it. Besides
 * what builder.h says: -EIO (the helper ended over it), -ETIMEDOUT (it took longer than wait_ms
 * and was ended), -EPROTO (what it gave is no table).
 */
int unwinder__table(struct unwinder *unwinder, int fd, unsigned int wait_ms,
		    struct unwind_table *ret);

#endif
