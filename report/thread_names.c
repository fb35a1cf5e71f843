// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads names of threads from /proc. */
#include "report/thread_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"

/* Below its process's folder: the number may have become another process's. */
static char *read_name(pid_t pid, pid_t tid)
{
	cleanup_fclose FILE *in = NULL;
	char path[64];
	char *name = NULL;
	size_t size = 0;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	in = fopen(path, "re");
	if (!in)
		return NULL;
	/* A name may hold a newline of its own; one ends it. */
	len = getdelim(&name, &size, 0, in);
	if (len <= 0) {
		free(name);
		return NULL;
	}
	name[len - 1] = '\0';
	return name;
}

void thread_names_read(struct report *report)
{
	for (size_t i = 0; report->by == BY_THREAD && i < report->group_cnt; i++) {
		struct report_group *group = &report->groups[i];
		const struct process *process = group->sum->process;

		group->thread =
			read_name(process ? process->pid : group->sum->tid, group->sum->tid);
	}
}
