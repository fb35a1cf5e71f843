/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code mappings that libdwfl's helper has, by generation (struct unwind_space). The helper is
 * started on first use.
 */
#ifndef LOADER_STACKS_WALKER_SPACES_H
#define LOADER_STACKS_WALKER_SPACES_H

#include "base/proc_maps.h"
#include "loader/stacks/user_budgets.h"
#include "unwinder/walker.h"

/* A process whose mappings the helper needs. */
struct walker_subject {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	uint32_t unloads; /* unload count, as in struct memleak_target */
	/*
	 * Reads the process's mappings. Returns 0, or a negative errno if they are no longer known.
	 */
	int (*read_maps)(const void *arg, struct proc_maps *ret);
	const void *arg;
};

/* The mappings of a process at one generation. */
struct walker_code_space {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	struct proc_maps maps;
};

struct walker_spaces {
	struct walker *walker;
	struct user_budgets *budgets;
	bool failed;                     /* the helper failed before, and that was logged */
	struct walker_code_space *items; /* oldest first */
	size_t cnt;
	size_t cap;
};

void walker_spaces_deinit(struct walker_spaces *spaces);

/*
 * Sends the process's mappings to the helper, unless it has this generation, and drops old ones.
 * Adds nothing if the mappings are unknown. Returns 0, or a negative errno if its stacks cannot be
 * walked.
 */
int walker_spaces_add(struct walker_spaces *spaces, const struct walker_subject *subject);

/* Drops all mappings of a process that has ended, once no copy of its stacks is on its way. */
void walker_spaces_forget(struct walker_spaces *spaces, pid_t pid);

/* Returns NULL if the helper does not have that generation. */
const struct walker_code_space *walker_spaces_find(const struct walker_spaces *spaces,
						   uint32_t generation);

/*
 * Walks a copied stack. Returns 0, or a negative errno if it was not walked; the helper may then
 * have lost all mappings.
 */
int walker_spaces_walk(struct walker_spaces *spaces, const struct walker_code_space *space,
		       const struct unwind_copy *copy, struct walker_stack *ret);

#endif
