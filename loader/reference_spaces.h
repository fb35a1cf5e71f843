/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of traced processes as libdwfl's helper knows it, by the generation of its mappings
 * (struct unwind_space). The helper is started when it is wanted for the first time.
 */
#ifndef REFERENCE_SPACES_H
#define REFERENCE_SPACES_H

#include "symbolizer/proc_maps.h"
#include "unwinder/reference.h"

/* Whose mappings are wanted. */
struct reference_subject {
	pid_t pid;
	uint32_t generation;
	uint32_t unloads; /* struct memleak_target */
	/* Reads what it has mapped: 0, or a negative errno if nobody knows any more. */
	int (*read_maps)(const void *arg, struct proc_maps *ret);
	const void *arg;
};

/* What a process had mapped, while the programs called it generation. */
struct reference_code_space {
	pid_t pid;
	uint32_t generation;
	struct proc_maps maps;
};

struct reference_spaces {
	struct reference *reference;
	int err;                            /* why nothing is walked any more */
	struct reference_code_space *items; /* oldest first */
	size_t cnt;
};

void reference_spaces_deinit(struct reference_spaces *spaces);

/*
 * Tells the helper what the process has mapped, unless it knows that generation. What it had
 * mapped long ago is forgotten. One whose mappings are not known adds nothing. 0 or a negative
 * errno, after which nothing is walked any more.
 */
int reference_spaces_add(struct reference_spaces *spaces, const struct reference_subject *subject);

/* A process has ended, and no copies of its stacks are on their way. */
void reference_spaces_forget(struct reference_spaces *spaces, pid_t pid);

/* NULL: it was not told. */
const struct reference_code_space *reference_spaces_find(const struct reference_spaces *spaces,
							 uint32_t generation);

/* Walks a copied stack by that code. 0 or a negative errno as above. */
int reference_spaces_walk(struct reference_spaces *spaces, const struct reference_code_space *space,
			  const struct unwind_copy *copy, struct reference_stack *ret);

#endif
