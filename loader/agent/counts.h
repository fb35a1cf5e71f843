/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --count: what programs count of their calls, by process, function or cgroup. */
#ifndef LOADER_AGENT_COUNTS_H
#define LOADER_AGENT_COUNTS_H

#include "loader/agent/lineage.h"
#include "report/counts.h"

struct agent_counts {
	struct counts counts; /* as of the last report; rows by key */
	size_t cap;
	uint64_t last_ns;
	char *mount; /* by cgroup: of the hierarchy; NULL: nowhere */
};

void agent_counts_init(struct agent_counts *ret, enum count_by by);
void agent_counts_deinit(struct agent_counts *counts);

/* The functions that are counted together. */
enum family family_of_call(unsigned int call);

/* A snapshot of the calls that have come since the last one. 0 or -ENOMEM. */
int agent_counts_read(struct agent_counts *counts, const struct agent_processes *processes,
		      uint64_t start_ns, struct snapshot *ret);

/* Rows of processes that had ended then. */
void agent_counts_drop_ended(struct agent_counts *counts);

#endif
