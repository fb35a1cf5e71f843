/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code mappings that libdwfl's helper has, by generation (see struct unwind_space). The helper
 * is started when it is first used.
 */
#ifndef LOADER_STACKS_WALKER_SPACES_H
#define LOADER_STACKS_WALKER_SPACES_H

#include "base/proc_maps.h"
#include "loader/stacks/user_budgets.h"
#include "unwinder/walker.h"

/* A process whose mappings are to be sent to the helper. */
struct walker_subject {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	uint32_t unloads; /* unload count of the process; see struct memleak_target */
	/*
	 * Reads the process's mappings. Returns 0, or a negative errno if the mappings are no
	 * longer known.
	 */
	int (*read_maps)(const void *arg, struct proc_maps *ret);
	const void *arg;
};

/* A process whose mappings the helper has. */
struct walker_code_space {
	pid_t pid;
	uid_t uid;
	uint32_t generation;
	bool used; /* true if added or found since the last walker_spaces_drop_unused() */
};

struct walker_spaces {
	struct walker *walker;
	struct user_budgets *budgets;
	bool failed; /* true if a failure of the helper was logged */
	struct walker_code_space *items;
	size_t cnt;
	size_t cap;
};

void walker_spaces_deinit(struct walker_spaces *spaces);

/*
 * Sends the process's mappings to the helper, unless the helper already has this generation. They
 * replace older mappings of the process. Sends nothing if the mappings are unknown. Returns 0, or a
 * negative errno if the process's stacks cannot be walked.
 */
int walker_spaces_add(struct walker_spaces *spaces, const struct walker_subject *subject);

/* Drops the mappings of a process. */
void walker_spaces_forget(struct walker_spaces *spaces, pid_t pid);

/*
 * Drops mappings that were neither added nor found since the last call, so that the helper closes
 * their files. They are sent again when needed.
 */
void walker_spaces_drop_unused(struct walker_spaces *spaces);

/* Returns the mappings with this generation; NULL if the helper does not have them. */
const struct walker_code_space *walker_spaces_find(struct walker_spaces *spaces,
						   uint32_t generation);

/*
 * Walks a copied stack. Returns 0, or a negative errno if the stack was not walked. After an error,
 * the helper may have lost all mappings.
 */
int walker_spaces_walk(struct walker_spaces *spaces, const struct walker_code_space *space,
		       const struct unwind_copy *copy, struct walker_stack *ret);

#endif
