/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process held is freed when it ends. Where many processes are traced, reports are of those
 * that live; those that have ended are one sum. Of given processes what they held at their end
 * counts.
 */
#ifndef REPORT_ENDED_H
#define REPORT_ENDED_H

#include "report/snapshot_view.h"

/* Maximum processes that are named. */
#define ENDED_NAMED 5

struct ended_process {
	pid_t pid;
	char *comm; /* raw bytes, from malloc; NULL: not known */
	uint64_t bytes;
	uint64_t count;
};

/* Processes whose memory counted when they ended, and what they held then. */
struct ended_processes {
	struct ended_process named[ENDED_NAMED]; /* the largest, in order */
	size_t named_cnt;
	size_t total; /* those that held something */
	uint64_t bytes;
};

/*
 * Adds the processes that have ended in a snapshot. Blocks that they had inherited do not count. 0
 * or -ENOMEM.
 */
int ended_processes_add(struct ended_processes *list, const struct snapshot *snap);
void ended_processes_deinit(struct ended_processes *list);

/* Leaves out what ended processes held; the sum stands in the view's ended. 0 or -ENOMEM. */
int ended_leave_out(struct snapshot_view *view);

#endif
