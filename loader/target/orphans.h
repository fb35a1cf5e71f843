/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds processes that a process probably started, but that are no longer its descendants: their
 * parents have ended, so init or a subreaper has adopted them.
 */
#ifndef LOADER_TARGET_ORPHANS_H
#define LOADER_TARGET_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "report/snapshot.h"

/*
 * The processes of the machine with their programs. A zeroed list is valid: orphans_read() fills it
 * when it first needs it. Use one list for all processes of a report, because reading /proc is
 * slow.
 */
struct program_list {
	struct running_program *items;
	size_t cnt, cap;
	bool is_read;
};

void program_list_deinit(struct program_list *list);

/*
 * Sets FOOTPRINT_ORPHANS and the name of one orphan. An orphan runs the same program as `pid`, is
 * younger, is in the same process group, session or cgroup, and was adopted by an ancestor of
 * `pid`. Processes for which is_traced() returns true do not count. Nothing counts if the parent of
 * `pid` is traced.
 */
void orphans_read(struct program_list *list, pid_t pid,
		  bool (*is_traced)(const void *arg, pid_t pid), const void *arg,
		  struct footprint *ret);

#endif
