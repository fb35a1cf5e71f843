/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of traced processes as libdwfl's helper knows it, by the generation of its mappings
 * (struct unwind_space). The helper is started when it is wanted for the first time.
 */
#ifndef LOADER_STACKS_WALKER_SPACES_H
#define LOADER_STACKS_WALKER_SPACES_H

#include "base/proc_maps.h"
#include "loader/stacks/user_budgets.h"
#include "unwinder/walker.h"

/* A process whose mappings are wanted. */
struct walker_subject {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	uint32_t unloads; /* as in struct memleak_target */
	/* Reads what it has mapped: 0, or a negative errno if nobody knows any more. */
	int (*read_maps)(const void *arg, struct proc_maps *ret);
	const void *arg;
};

/* What a process had mapped while this was the generation of its mappings. */
struct walker_code_space {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	struct proc_maps maps;
};

struct walker_spaces {
	struct walker *walker;
	struct user_budgets *budgets;
	bool failed;                     /* once, and it has been said */
	struct walker_code_space *items; /* oldest first */
	size_t cnt;
	size_t cap;
};

void walker_spaces_deinit(struct walker_spaces *spaces);

/*
 * Tells the helper what the process has mapped, unless it knows that generation, and drops what it
 * had mapped long ago. Nothing is added if nobody knows its mappings. 0 or a negative errno: its
 * stacks are not walked.
 */
int walker_spaces_add(struct walker_spaces *spaces, const struct walker_subject *subject);

/* A process has ended, and no copies of its stacks are on their way. */
void walker_spaces_forget(struct walker_spaces *spaces, pid_t pid);

/* NULL: the helper does not know that generation. */
const struct walker_code_space *walker_spaces_find(const struct walker_spaces *spaces,
						   uint32_t generation);

/*
 * Walks a copied stack by that code. 0 or a negative errno: it was not walked, and the helper may
 * have to be told again of all that is mapped.
 */
int walker_spaces_walk(struct walker_spaces *spaces, const struct walker_code_space *space,
		       const struct unwind_copy *copy, struct walker_stack *ret);

#endif
