/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the data that waits in the TCP, UDP and UNIX sockets of a process: kernel memory that
 * grows if the process does not read, or if its peers do not.
 */
#ifndef LOADER_TARGET_SOCKET_QUEUES_H
#define LOADER_TARGET_SOCKET_QUEUES_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_map.h"
#include "report/snapshot.h"

/*
 * The queues of all sockets of the network namespaces that were read. A zeroed struct is valid and
 * empty.
 */
struct socket_queues {
	struct hash_map namespaces; /* key: number of a namespace that was read */
	struct hash_map bytes; /* key: inode of a socket; value: number of bytes, as a pointer */
};

void socket_queues_deinit(struct socket_queues *queues);

/*
 * Sets FOOTPRINT_SOCKETS to the bytes that wait in the sockets of a process: received and not read,
 * or sent and not acknowledged. Reads the queues of the process's namespace, unless `queues` has
 * them; of UNIX sockets, only data that was not read, and only in memleak's own namespace. Skips
 * descriptors of the process after the first OPEN_FDS_MAX. Also sets has_other_network.
 */
void socket_queues_read(struct socket_queues *queues, pid_t pid, struct footprint *ret);

#endif
