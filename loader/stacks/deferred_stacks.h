/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deferred stacks (struct memleak_stack): stacks through code that the programs did not know yet,
 * such as a library that was just loaded. When the code is known, libdwfl walks the copy that was
 * sent along, and its result replaces the programs' stack.
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
	volatile struct memleak_deferred_watch *watch; /* shared with the programs */
	struct deferred_stack **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
	size_t waiting_bytes;
	size_t file_cnt; /* number of files with tables at the last check */
	uint64_t taken;
	uint64_t finished; /* stacks that libdwfl walked to their end */
	uint64_t cut;      /* stacks that neither walk brought to their end */
};

/* Allows the programs to send stacks. The fields above waiting must be set. */
void deferred_stacks_start(struct deferred_stacks *deferred);
/* Allows a few more copies, once per report, even if earlier copies were of no use. */
void deferred_stacks_go_on(struct deferred_stacks *deferred);
void deferred_stacks_deinit(struct deferred_stacks *deferred);

/* Adds a copy of a deferred stack, of len bytes. */
void deferred_stacks_take(struct deferred_stacks *deferred, const struct memleak_stack_copy *copy,
			  size_t len);

bool deferred_stacks_is_waiting(const struct deferred_stacks *deferred, uint32_t image);

/* Finishes at most most pending stacks of image, whose process has had its mappings read again. */
void deferred_stacks_finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
			    uint32_t image, size_t most, uint64_t deadline_ns);

/* Drops pending stacks of images that is_known() rejects. */
void deferred_stacks_drop(struct deferred_stacks *deferred,
			  bool (*is_known)(void *arg, uint32_t image), void *arg);

#endif
