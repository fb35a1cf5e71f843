/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes of a list descend from given ones, by their parents alone. */
#ifndef LOADER_TARGET_PROCESS_TREE_H
#define LOADER_TARGET_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct member {
	pid_t pid;
	pid_t parent;
	bool own; /* memleak itself, or a process that it has made */
};

/*
 * Keeps the descendants of the given processes, without these, and sorts them by pid. A process
 * whose parent has ended has another parent by now, and is not found. 0 or -ENOMEM.
 */
int process_tree_keep_descendants(struct member *members, size_t *cnt, const pid_t *pids,
				  size_t pid_cnt);

#endif
