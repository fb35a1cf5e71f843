/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the descendants of given processes in a list, by parent pids alone. */
#ifndef LOADER_TARGET_PROCESS_TREE_H
#define LOADER_TARGET_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct member {
	pid_t pid;
	pid_t parent;
	bool own; /* memleak itself, or a process that memleak started */
};

/*
 * Keeps the descendants of the given processes, without the given ones, sorted by pid. A process
 * whose parent has ended was reparented and is not found. Returns 0 or -ENOMEM.
 */
int process_tree_keep_descendants(struct member *members, size_t *cnt, const pid_t *pids,
				  size_t pid_cnt);

#endif
