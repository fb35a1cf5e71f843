/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the account of one process says of copies that forked children have: which blocks it has
 * freed since, which it has freed of its parent's, and what it had mapped at each fork.
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
	struct inherited_block *left; /* which children may have */
	size_t left_cnt;
	size_t left_cap;
	struct hash_map freed; /* of its ancestors' blocks by address: struct freed_in_child */
	struct awaited_child *awaited; /* were forked, and have not come yet */
	size_t awaited_cnt;
	size_t awaited_cap;
	size_t awaited_ranges; /* of all of them */
	uint64_t lost;         /* frees for which there was no room */
	uint64_t forked;       /* so many children were forked, */
	uint64_t forked_ns;    /* the last then, */
	uint64_t come;         /* and so many have come */
};

void heritage_deinit(struct heritage *heritage);

/*
 * Takes in an event of a fork, or of a free that matters to one; ranges: what is mapped then. 0 or
 * -ENOMEM.
 */
int heritage_apply(struct heritage *heritage, const struct account_view *view, uint32_t image,
		   const struct ranges *ranges, const struct account_event *event);

/* Gives a child that was forked then what was mapped. 0; -ENOENT: that is not known; -ENOMEM. */
int heritage_claim(struct heritage *heritage, uint64_t forked_ns, uint32_t image,
		   struct ranges *child);

/* How many children have not come, if none is to be waited for that was forked since then. */
uint64_t heritage_missing(const struct heritage *heritage, bool ended, uint64_t since_ns);

/* Whether a child may still come that was forked no earlier. */
bool heritage_is_awaited(const struct heritage *heritage, uint64_t since_ns);

/*
 * Adds what was freed to a walk, and forgets what nobody needs; what was freed since then may
 * matter to who has not come yet. 0 or -ENOMEM.
 */
int heritage_walk(struct heritage *heritage, struct inheritance *inheritance, uint64_t since_ns);
int heritage_walk_freed(const struct heritage *heritage, struct inheritance *inheritance);

#endif
