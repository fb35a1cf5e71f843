/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the data that waits in UNIX sockets. /proc does not show it. Knows nothing of traced
 * processes.
 */
#ifndef LOADER_TARGET_UNIX_QUEUES_H
#define LOADER_TARGET_UNIX_QUEUES_H

#include <stdint.h>

/*
 * Calls visit() for each UNIX socket of memleak's network namespace that has unread data, with the
 * inode of the socket and the number of bytes. Counts only the first of several datagrams. Returns
 * 0 or a negative errno: -ENOENT if the kernel has no such list.
 */
int unix_queues_visit(void (*visit)(void *arg, uint64_t inode, uint64_t bytes), void *arg);

#endif
