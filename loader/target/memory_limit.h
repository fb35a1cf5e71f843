/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads how much memory a process can use: the total memory of the machine, and the memory that is
 * left below the limit of the process's memory cgroup. Does not know what its callers need the
 * memory for.
 */
#ifndef LOADER_TARGET_MEMORY_LIMIT_H
#define LOADER_TARGET_MEMORY_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

struct memory_limit {
	uint64_t machine; /* total memory of the machine, in bytes */
	/*
	 * Memory limit of the process's cgroup or of an ancestor of that cgroup, whichever has the
	 * least memory left. UINT64_MAX if no limit is below the machine's memory.
	 */
	uint64_t cgroup_limit;
	uint64_t cgroup_left; /* memory left below cgroup_limit, including reclaimable page cache */
};

/* Read the limits of memleak itself, or of the process `pid`. Ignore limits that cannot be read. */
struct memory_limit memory_limit_read(void);
struct memory_limit memory_limit_of(pid_t pid);

#endif
