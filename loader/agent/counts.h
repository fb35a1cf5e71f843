/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --count: adds up calls by process, function or cgroup. */
#ifndef LOADER_AGENT_COUNTS_H
#define LOADER_AGENT_COUNTS_H

#include "loader/agent/lineage.h"
#include "report/counts.h"

struct agent_counts {
	struct counts counts; /* counts as of the last report, sorted by key */
	size_t cap;
	uint64_t last_ns;
	char *mount; /* mount point of the cgroup hierarchy, NULL if there is none */
};

void agent_counts_init(struct agent_counts *ret, enum count_by by);
void agent_counts_deinit(struct agent_counts *counts);

/* Returns the family of functions under which a call is counted. call: an enum account_call. */
enum family family_of_call(unsigned int call);

/*
 * Makes a snapshot with the numbers of calls since the previous snapshot and in total. Returns 0 or
 * -ENOMEM.
 */
int agent_counts_read(struct agent_counts *counts, const struct agent_processes *processes,
		      uint64_t start_ns, struct snapshot *ret);

/* Removes the rows of processes that had already ended at the last report. */
void agent_counts_drop_ended(struct agent_counts *counts);

#endif
