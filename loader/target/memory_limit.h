/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory available to a process: the machine's total, and what its memory cgroup still allows.
 * Knows nothing of what the memory is for.
 */
#ifndef LOADER_TARGET_MEMORY_LIMIT_H
#define LOADER_TARGET_MEMORY_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

struct memory_limit {
	uint64_t machine;
	uint64_t cgroup_limit; /* limit of the cgroup with the least left; UINT64_MAX for none */
	uint64_t cgroup_left;  /* free in that cgroup, with reclaimable page cache */
};

/* Reads the limits of this process. Unreadable limits are ignored. */
struct memory_limit memory_limit_read(void);
struct memory_limit memory_limit_of(pid_t pid);

#endif
