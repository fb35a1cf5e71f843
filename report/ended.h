/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of processes that have ended. With --all-processes, --comm or --cgroup, reports show only
 * the sum of such processes, as their memory is freed. Processes that were given one by one are
 * reported with the memory that they held at their end.
 */
#ifndef REPORT_ENDED_H
#define REPORT_ENDED_H

#include "report/snapshot_view.h"

/* Maximum processes that are named. */
#define ENDED_NAMED 5

struct ended_process {
	pid_t pid;
	char *comm; /* raw bytes, from malloc; NULL if not known */
	uint64_t bytes;
	uint64_t count;
};

/* Given processes that have ended, and the memory that they held at their end. */
struct ended_processes {
	struct ended_process named[ENDED_NAMED]; /* processes with most memory, largest first */
	size_t named_cnt;
	size_t total; /* number of processes that held memory at their end */
	uint64_t bytes;
};

/*
 * Adds the ended processes of a snapshot to the list. Inherited blocks do not count. Returns 0 or
 * -ENOMEM.
 */
int ended_processes_add(struct ended_processes *list, const struct snapshot *snap);
void ended_processes_deinit(struct ended_processes *list);

/* Removes sites of ended processes from a view, and sets view->snap.ended. 0 or -ENOMEM. */
int ended_leave_out(struct snapshot_view *view);

#endif
