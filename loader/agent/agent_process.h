/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One program with an agent: its account, what it has mapped, and what its stacks are called. */
#ifndef LOADER_AGENT_AGENT_PROCESS_H
#define LOADER_AGENT_AGENT_PROCESS_H

#include "base/hash_map.h"
#include "loader/agent/account_view.h"
#include "loader/agent/code_files.h"
#include "loader/agent/heritage.h"
#include "loader/tables/block_walk.h"
#include "loader/target/mapped_ranges.h"
#include "symbolizer/symbolizer.h"

struct agent_process;

/* What a walk needs to know of stacks of other processes. */
struct ancestry {
	struct code_files *files;
	struct agent_process *(*find)(void *arg, uint32_t image); /* NULL: it is not known */
	void *arg;
};

struct agent_process {
	struct process info;
	struct account_view view;
	int pidfd; /* -1: it has ended */
	bool ended;
	bool at_end;    /* it runs no more, but its memory is there */
	bool replaced;  /* it has executed another program */
	bool bypassed;  /* it calls an allocator of its own, which has been said */
	bool told;      /* that it has ended was known when it was read last */
	uint32_t epoch; /* the last that was begun here */
	bool pictured;  /* since then a picture of the memory is taken */
	struct symspace *space;
	uint64_t stackless;   /* blocks whose stacks are too many, in this walk */
	uint64_t stacks_lost; /* at most, in one */
	struct ranges ranges;
	struct hash_map sites;         /* struct site_entry by image, kind and stack */
	struct account_totals counted; /* as of the last report of --count */
	uint32_t *files;               /* by number of the module: 1 + number of the file */
	size_t file_cnt;
	struct heritage heritage;
	uint32_t awaits; /* its parent, of whose mappings at the fork nothing is known yet; 0: none
			  */
};

/* The number of a stack, as sites of mappings and of inherited blocks have it. */
static inline uint32_t agent_stack(uint64_t site)
{
	return (uint32_t)site;
}

static inline bool agent_stack_is_sample(uint64_t site)
{
	return site & ACCOUNT_RANGE_SAMPLE;
}

/*
 * Takes the account over. 0 or a negative errno; -ESRCH: the process has ended, and is not known by
 * name.
 */
int agent_process__new(struct symbolizer *symbolizer, struct account_view *view, pid_t pid,
		       uint32_t image, struct agent_process **ret);
/* A child has its parent's name until it takes another. 0 or -ENOMEM. */
int agent_process__name_after(struct agent_process *process, const struct agent_process *parent);
void agent_process__free(struct agent_process *process);

/* Which of its blocks it keeps. */
struct sampling agent_process__sampling(const struct agent_process *process);
/* It keeps samples alone from now on, and for ever. */
void agent_process__sample(struct agent_process *process, const struct sampling *sampling);

/*
 * It keeps sums from now on, in which what it has since since_ns is; tracing began at start_ns. 0
 * or a negative errno.
 */
int agent_process__add_up(struct agent_process *process, uint64_t start_ns, uint64_t since_ns);
/* It counts what calls ask for from now on; what it has called before is none of it. */
void agent_process__count(struct agent_process *process);

/* What it has outstanding by its sums and its mappings. */
uint64_t agent_process__outstanding(struct agent_process *process, uint64_t since_ns);
/* How much that was at most. */
uint64_t agent_process__highest(const struct agent_process *process);

/* Applies the events that have come. 0 or -ENOMEM. */
int agent_process__take_events(struct agent_process *process);
/* The same, and what no event tells of. */
int agent_process__settle(struct agent_process *process);

/* Gives the account what is known of mappings, for who joins later. */
void agent_process__leave(struct agent_process *process);

/* Blocks from before now_ns, which is now, and later ones can be told apart from here on. */
void agent_process__begin_epoch(struct agent_process *process, uint64_t now_ns);

/*
 * Adds all that it has outstanding since then, but for blocks of its ancestors', whose mappings
 * are among its own. 0 or a negative errno.
 */
int agent_process__walk(struct agent_process *process, const struct ancestry *ancestry,
			uint64_t since_ns, struct block_walk *walk);

/* The frames of one of its stacks, innermost first, with files' numbers: as many as are wanted. */
size_t agent_process__stack(struct agent_process *process, struct code_files *files, uint32_t stack,
			    const struct options *opts, uint64_t *frames, unsigned int *ret_end);

/* Adds a block of an ancestor's that it has a copy of. The same. */
int agent_process__inherit(struct agent_process *process, const struct ancestry *ancestry,
			   const struct inherited_block *block, struct block_walk *walk);

#endif
