/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process with an agent: its account, mappings and symbols. */
#ifndef LOADER_AGENT_AGENT_PROCESS_H
#define LOADER_AGENT_AGENT_PROCESS_H

#include "base/hash_map.h"
#include "loader/agent/account_view.h"
#include "loader/agent/code_files.h"
#include "loader/agent/heritage.h"
#include "loader/tables/block_walk.h"
#include "loader/target/mapped_ranges.h"
#include "loader/target/mapping_counts.h"
#include "symbolizer/symbolizer.h"

struct agent_process;

/* Gives access to the stacks of processes from which blocks were inherited. */
struct ancestry {
	struct code_files *files;
	/* Returns the process with this exec image number; NULL if there is none. */
	struct agent_process *(*find)(void *arg, uint32_t image);
	void *arg;
};

struct agent_process {
	struct process info;
	struct account_view view;
	int pidfd; /* pidfd, -1 if the process has ended */
	bool ended;
	bool at_end;   /* true if the process is stopped at its exit, before its memory is freed */
	bool replaced; /* true if the process has executed another program */
	bool bypassed; /* true if the use of another allocator was logged */
	bool was_reported_ended; /* true if the latest report showed the process as ended */
	uint32_t epoch;          /* newest epoch that memleak has begun */
	bool pictured;           /* true if a proof copies the process's memory in this epoch */
	struct symspace *space;
	/* number of blocks without a stack in the latest walk, because of the limit on sites */
	uint64_t stackless;
	uint64_t stacks_lost; /* maximum of `stackless` over all walks */
	struct ranges ranges;
	struct mapping_counts mapping_counts;
	uint64_t too_young; /* size of the largest heap block younger than --older, in bytes */
	/* struct site_entry by image, kind and stack number */
	struct hash_map sites;
	struct account_totals counted; /* totals at the previous report of --count */
	uint32_t *files;               /* file number + 1 of each module; 0 if not known yet */
	size_t file_cnt;
	/* `scripts` of struct code_files; NULL until a module's file is first numbered */
	struct scripts *scripts;
	struct heritage heritage;
	uint32_t awaited_parent; /* image of the parent whose mappings are awaited, 0 if none */
};

/* Extracts the stack number from the field `site` of a mapping or of an inherited block. */
static inline uint32_t agent_stack(uint64_t site)
{
	return (uint32_t)site;
}

static inline bool agent_stack_is_sample(uint64_t site)
{
	return site & ACCOUNT_RANGE_SAMPLE;
}

/*
 * Creates the struct for a process, and takes ownership of the account `view`. pidfd: -1 if the
 * process has ended; another process may have its pid. Takes ownership of pidfd even on failure.
 * Returns 0 or a negative errno.
 */
int agent_process__new(struct symbolizer *symbolizer, struct account_view *view, pid_t pid,
		       int pidfd, uint32_t image, struct agent_process **ret);
/* Names a child after its parent if the child has no name. Returns 0 or -ENOMEM. */
int agent_process__name_after(struct agent_process *process, const struct agent_process *parent);
void agent_process__free(struct agent_process *process);

/* Returns how the process samples its blocks. */
struct sampling agent_process__sampling(const struct agent_process *process);
/* Makes the process record only samples, until it ends. */
void agent_process__sample(struct agent_process *process, const struct sampling *sampling);

/*
 * Makes the process maintain sums of outstanding bytes. The sums leave out blocks allocated before
 * since_ns. start_ns: start of tracing. Returns 0 or a negative errno.
 */
int agent_process__add_up(struct agent_process *process, uint64_t start_ns, uint64_t since_ns);
/* Makes the process count requested bytes. Earlier calls are not counted. */
void agent_process__count(struct agent_process *process);

/* Returns the outstanding bytes: the process's sum, and its mappings made at since_ns or later. */
uint64_t agent_process__outstanding(struct agent_process *process, uint64_t since_ns);
/* Returns the highest number of outstanding bytes that the process is known to have reached. */
uint64_t agent_process__highest(const struct agent_process *process);

/* Applies the pending events of the account. Returns 0 or -ENOMEM. */
int agent_process__take_events(struct agent_process *process);
/*
 * Applies pending events, then corrects the mappings by /proc/PID/maps. Returns 0 or a negative
 * errno.
 */
int agent_process__reconcile(struct agent_process *process);

/* Stores the mappings in the account, for a memleak process that attaches later. */
void agent_process__store_mappings(struct agent_process *process);

/*
 * Begins an epoch, which distinguishes blocks stored from now on from older blocks. now_ns: current
 * time.
 */
void agent_process__begin_epoch(struct agent_process *process, uint64_t now_ns);

/*
 * Adds to the walk all outstanding blocks and mappings allocated at since_ns or later. Includes
 * inherited mappings, but not inherited blocks. Returns 0 or a negative errno.
 */
int agent_process__walk(struct agent_process *process, const struct ancestry *ancestry,
			uint64_t since_ns, struct block_walk *walk);

/*
 * Copies the frames of a stack, innermost first, with script frames between native frames. Native
 * frames have file numbers, and are limited by --perf-max-stack-depth. Returns the number of
 * frames, at most MEMLEAK_MAX_STACK_DEPTH.
 */
size_t agent_process__stack(struct agent_process *process, struct code_files *files, uint32_t stack,
			    const struct options *opts, uint64_t *frames, unsigned int *ret_end);

/* Adds an inherited block to the walk. Returns 0 or a negative errno. */
int agent_process__inherit(struct agent_process *process, const struct ancestry *ancestry,
			   const struct inherited_block *block, struct block_walk *walk);

#endif
