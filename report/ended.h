/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of processes that have ended. With --all-processes, --comm or --cgroup, reports show only
 * the sum over ended processes, because their memory is free again. A process that was selected by
 * its pid or started as the command is still reported after its end, with the memory that it held
 * then.
 */
#ifndef REPORT_ENDED_H
#define REPORT_ENDED_H

#include "report/snapshot_view.h"

/* Maximum number of ended processes that a report lists by name. */
#define ENDED_NAMED 5

struct ended_process {
	pid_t pid;
	char *comm; /* name of the process, raw bytes, from malloc; NULL if not known */
	uint64_t bytes;
	uint64_t count;
	int killed_by;      /* signal that ended the process; 0 if none did, or if not known */
	bool out_of_memory; /* true if the kernel killed the process because memory ran out */
};

/*
 * Ended processes that were selected by pid or started as the command, and the memory that they
 * held when they ended; also all processes that the kernel has killed because memory ran out.
 */
struct ended_processes {
	/*
	 * First those for which memory ran out, then the others; within each group, those that held
	 * most memory, in descending order.
	 */
	struct ended_process named[ENDED_NAMED];
	size_t named_cnt;
	size_t total; /* number of processes, without those that held no memory and were not killed
		       */
	uint64_t bytes;
};

/*
 * Adds the ended processes of a snapshot to the list. view: the same snapshot without the sites
 * that the report leaves out. Inherited blocks do not count. Returns 0 or -ENOMEM.
 */
int ended_processes_add(struct ended_processes *list, const struct snapshot *snap,
			const struct snapshot *view);
void ended_processes_deinit(struct ended_processes *list);

/*
 * Removes the sites of ended processes from a view. Sets view->snap.ended to their sum. Returns 0
 * or -ENOMEM.
 */
int ended_leave_out(struct snapshot_view *view);

#endif
