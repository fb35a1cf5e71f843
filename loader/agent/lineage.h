/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who was forked from whom, and what they have of each other. */
#ifndef LOADER_AGENT_LINEAGE_H
#define LOADER_AGENT_LINEAGE_H

#include "loader/agent/agent_process.h"

/* The account of a child comes at most so long after its fork. */
#define LINEAGE_HEARING_NS 1000000000ULL

/* Processes in the order of their images. */
struct agent_processes {
	struct agent_process **items;
	size_t cnt;
	size_t cap;
};

/* NULL: it is not among them. */
struct agent_process *agent_processes_find(const struct agent_processes *processes, uint32_t image);

struct lineage {
	struct inheritance inheritance;
	struct agent_processes gone; /* have their last report, but descendants that live */
	uint64_t lost;               /* children of which it is not known what they began with */
	uint64_t mappings_lost;      /* the same of what was mapped */
};

void lineage_deinit(struct lineage *lineage);

/* Those with a result return 0 or a negative errno. */

/* A process that was forked, and is not among the others yet. */
int lineage_add(struct lineage *lineage, const struct agent_processes *processes,
		struct agent_process *child);

/* Gives processes what their parents had mapped, of which these had not told when they came. */
int lineage_settle(struct lineage *lineage, const struct agent_processes *processes);

/* Gives all that descendants have of blocks, once their own were added. */
int lineage_walk(struct lineage *lineage, const struct agent_processes *processes,
		 const struct ancestry *ancestry, struct block_walk *walk);

/*
 * Takes over a process that has its last report and is not among the others any more, until
 * lineage_sweep() finds that nobody has blocks of its. -ENOMEM: it is not taken over.
 */
int lineage_keep(struct lineage *lineage, struct agent_process *process);
int lineage_sweep(struct lineage *lineage, const struct agent_processes *processes);

/* One that is there, or is kept. NULL: there is none. */
struct agent_process *lineage_find(const struct lineage *lineage,
				   const struct agent_processes *processes, uint32_t image);

#endif
