/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory there is for a process: the machine's, and what its memory cgroup still allows.
 * What needs the memory it does not know.
 */
#ifndef LOADER_TARGET_MEMORY_LIMIT_H
#define LOADER_TARGET_MEMORY_LIMIT_H

#include <stdint.h>
#include <sys/types.h>

struct memory_limit {
	uint64_t machine;
	uint64_t cgroup_limit; /* of the cgroup that leaves the least; UINT64_MAX: there is none */
	uint64_t cgroup_left;  /* page cache that the kernel takes back at once counts as free */
};

/* For this process. What cannot be read does not limit. */
struct memory_limit memory_limit_read(void);
struct memory_limit memory_limit_of(pid_t pid);

#endif
