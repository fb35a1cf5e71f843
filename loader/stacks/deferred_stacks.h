/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deferred stacks (struct memleak_stack): they went through code that the programs did not know
 * yet, as of a library that was loaded just now. Once it is known, libdwfl walks the copy that came
 * along, and what it finds replaces what the programs found.
 */
#ifndef LOADER_STACKS_DEFERRED_STACKS_H
#define LOADER_STACKS_DEFERRED_STACKS_H

#include "loader/stacks/unwind_spaces.h"
#include "loader/stacks/walker_spaces.h"
#include "loader/tables/stack_table.h"

struct deferred_stacks {
	struct stack_table *stacks;
	const struct unwind_spaces *spaces;
	struct walker_spaces *walker;
	volatile struct memleak_deferred_watch *watch; /* in the programs' memory */
	struct deferred_stack **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
	size_t waiting_bytes;
	size_t file_cnt; /* files with tables, as last seen */
	uint64_t taken;
	uint64_t finished; /* stacks that libdwfl has walked to their end */
	uint64_t cut;      /* stacks that nobody could walk to their end */
};

/* The fields above waiting are set: the programs may send stacks. */
void deferred_stacks_start(struct deferred_stacks *deferred);
/* For each report: the programs may send some more, if those that came were of no use. */
void deferred_stacks_go_on(struct deferred_stacks *deferred);
void deferred_stacks_deinit(struct deferred_stacks *deferred);

/* A copy of a deferred stack has come, of that length. */
void deferred_stacks_take(struct deferred_stacks *deferred, const struct memleak_stack_copy *copy,
			  size_t len);

bool deferred_stacks_is_waiting(const struct deferred_stacks *deferred, uint32_t image);

/*
 * The mappings of the process, which runs image, were read again: finishes some of the stacks that
 * wait for that.
 */
void deferred_stacks_finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
			    uint32_t image, size_t most, uint64_t deadline_ns);

/* Drops waiting stacks of images that are not known. */
void deferred_stacks_drop(struct deferred_stacks *deferred,
			  bool (*is_known)(void *arg, uint32_t image), void *arg);

#endif
