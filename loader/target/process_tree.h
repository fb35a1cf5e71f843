/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the descendants of given processes in a list of processes, by their parent pids. */
#ifndef LOADER_TARGET_PROCESS_TREE_H
#define LOADER_TARGET_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct member {
	pid_t pid;
	pid_t parent;
	bool own; /* true for memleak itself and its helpers */
};

/*
 * Removes all processes from the list except descendants of the given processes. The given
 * processes themselves are removed, too. Sorts the list by pid. A descendant whose parent has ended
 * is not found, since it has another parent now. Returns 0 or -ENOMEM.
 */
int process_tree_keep_descendants(struct member *members, size_t *cnt, const pid_t *pids,
				  size_t pid_cnt);

#endif
