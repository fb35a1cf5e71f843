/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stores the events of one process that concern inheritance: its frees of blocks that children may
 * have inherited, its frees of blocks that it has inherited itself, and its forks, each with the
 * mappings of the process at the time of the fork.
 */
#ifndef LOADER_AGENT_HERITAGE_H
#define LOADER_AGENT_HERITAGE_H

#include "agent/account.h"
#include "base/hash_map.h"
#include "loader/agent/account_view.h"
#include "loader/tables/inheritance.h"
#include "loader/target/mapped_ranges.h"

struct awaited_child;

struct heritage {
	struct inherited_block
		*freed_shared; /* freed blocks of which children may still have copies */
	size_t freed_shared_cnt;
	size_t freed_shared_cap;
	/*
	 * Inherited blocks that this process freed, by address. Values are struct freed_in_child.
	 */
	struct hash_map freed;
	/* Children that were forked, but whose accounts have not arrived. */
	struct awaited_child *awaited;
	size_t awaited_cnt;
	size_t awaited_cap;
	size_t awaited_ranges; /* number of mappings stored for awaited children */
	uint64_t lost;         /* number of frees dropped for lack of room */
	uint64_t forked;       /* number of forks */
	uint64_t forked_ns;    /* time of the latest fork */
	uint64_t arrived_cnt;  /* number of children whose accounts have arrived so far */
};

void heritage_deinit(struct heritage *heritage);

/*
 * Applies an event that is a fork, a free of a block that children may have inherited, or a free of
 * an inherited block. Ignores other events. ranges: current mappings of the process. Returns 0 or
 * -ENOMEM.
 */
int heritage_apply(struct heritage *heritage, const struct account_view *view, uint32_t image,
		   const struct ranges *ranges, const struct account_event *event);

/*
 * Moves the mappings stored for the fork at forked_ns to `child`. image: image number of the
 * parent. Returns 0, -ENOENT if the mappings are unknown, or -ENOMEM.
 */
int heritage_claim(struct heritage *heritage, uint64_t forked_ns, uint32_t image,
		   struct ranges *child);

/*
 * Returns the number of forked children whose accounts never arrived. Returns 0 if the process has
 * not ended and has forked at since_ns or later, as accounts may still arrive then.
 */
uint64_t heritage_missing(const struct heritage *heritage, bool ended, uint64_t since_ns);

/* True if a child was forked at since_ns or later and its account may still arrive. */
bool heritage_is_awaited(const struct heritage *heritage, uint64_t since_ns);

/*
 * heritage_walk() adds to `inheritance` the freed blocks of which a child has a copy. It drops the
 * other freed blocks, except those freed at since_ns or later: a child whose account has not
 * arrived may have a copy of them. heritage_walk_freed() adds the frees of blocks that this process
 * has inherited. Both return 0 or -ENOMEM.
 */
int heritage_walk(struct heritage *heritage, struct inheritance *inheritance, uint64_t since_ns);
int heritage_walk_freed(const struct heritage *heritage, struct inheritance *inheritance);

#endif
