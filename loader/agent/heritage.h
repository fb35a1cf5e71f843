/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of one account about blocks and mappings that forked children inherit: blocks freed since
 * a fork, inherited blocks freed by this process, and mappings at each fork.
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
	uint64_t forked_ns;    /* time of the last fork */
	uint64_t arrived_cnt;  /* number of children whose accounts have arrived so far */
};

void heritage_deinit(struct heritage *heritage);

/*
 * Applies an event of a fork, or of a free of an inherited block. ranges: current mappings. Returns
 * 0 or -ENOMEM.
 */
int heritage_apply(struct heritage *heritage, const struct account_view *view, uint32_t image,
		   const struct ranges *ranges, const struct account_event *event);

/*
 * Moves the mappings stored for the fork at forked_ns to the child. Returns 0, -ENOENT if the
 * mappings are unknown, or -ENOMEM.
 */
int heritage_claim(struct heritage *heritage, uint64_t forked_ns, uint32_t image,
		   struct ranges *child);

/*
 * Returns the number of forked children whose accounts have not arrived; 0 while the account of a
 * child forked at since_ns or later may still arrive.
 */
uint64_t heritage_missing(const struct heritage *heritage, bool ended, uint64_t since_ns);

/* True if the account of a child forked at since_ns or later may still arrive. */
bool heritage_is_awaited(const struct heritage *heritage, uint64_t since_ns);

/*
 * Adds the freed blocks to a walk, and drops those of which no child has a copy. Blocks freed at
 * since_ns or later are kept: children whose accounts have not arrived may have copies. Returns 0
 * or -ENOMEM.
 */
int heritage_walk(struct heritage *heritage, struct inheritance *inheritance, uint64_t since_ns);
int heritage_walk_freed(const struct heritage *heritage, struct inheritance *inheritance);

#endif
