/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracks which process was forked from which, and what children inherit. */
#ifndef LOADER_AGENT_LINEAGE_H
#define LOADER_AGENT_LINEAGE_H

#include "loader/agent/agent_process.h"

/* Maximum time from a fork until the child's account arrives, in nanoseconds. */
#define LINEAGE_ARRIVAL_NS 1000000000ULL

/* Processes, sorted by exec image number. */
struct agent_processes {
	struct agent_process **items;
	size_t cnt;
	size_t cap;
};

/* Returns the process with this exec image number; NULL if there is none. */
struct agent_process *agent_processes_find(const struct agent_processes *processes, uint32_t image);

struct lineage {
	struct inheritance inheritance;
	/*
	 * Ended processes that are kept after their last report because living descendants may have
	 * inherited their blocks.
	 */
	struct agent_processes kept;
	uint64_t lost;          /* number of children whose parent is unknown */
	uint64_t mappings_lost; /* number of children whose inherited mappings are unknown */
};

void lineage_deinit(struct lineage *lineage);

/* All functions below that return int return 0 or a negative errno. */

/* Adds a new process, which may be a forked child. processes: all other processes. */
int lineage_add(struct lineage *lineage, const struct agent_processes *processes,
		struct agent_process *child);

/* Looks again for inherited mappings that were unknown when the children's accounts arrived. */
int lineage_retry_mappings(struct lineage *lineage, const struct agent_processes *processes);

/*
 * Adds the inherited blocks of all processes to `walk`, which must already have their own blocks.
 */
int lineage_walk(struct lineage *lineage, const struct agent_processes *processes,
		 const struct ancestry *ancestry, struct block_walk *walk);

/*
 * lineage_keep() takes ownership of an ended process after its last report, except on -ENOMEM.
 * lineage_sweep() frees the kept processes whose blocks no descendant can have.
 */
int lineage_keep(struct lineage *lineage, struct agent_process *process);
int lineage_sweep(struct lineage *lineage, const struct agent_processes *processes);

/*
 * Finds a process by its exec image number, in `processes` or among those passed to lineage_keep().
 * Returns NULL if there is none.
 */
struct agent_process *lineage_find(const struct lineage *lineage,
				   const struct agent_processes *processes, uint32_t image);

#endif
