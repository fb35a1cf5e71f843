/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deferred stacks (see struct memleak_stack) contain code that the BPF programs did not know, such
 * as a library that was just loaded. With each of these stacks, the programs send a copy of the
 * stack's memory. When the code is known, and it shows that the programs walked the stack wrongly,
 * libdwfl walks the copy, and its frames replace the frames that the programs found.
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
	/* Limits how many stacks the programs send; memory shared with the programs. */
	volatile struct memleak_deferred_watch *watch;
	struct deferred_stack **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
	size_t waiting_bytes;
	size_t file_cnt; /* number of unwind tables at the last deferred_stacks_finish() */
	uint64_t taken;
	uint64_t finished; /* number of stacks that libdwfl walked to the end */
	uint64_t cut;      /* stacks that neither the programs nor libdwfl walked to the end */
};

/* Allows the programs to send stacks. The fields that precede `waiting` must be set. */
void deferred_stacks_start(struct deferred_stacks *deferred);
/*
 * Allows the programs to send a few more stacks, even if libdwfl completed none of the earlier
 * stacks. Call after each snapshot.
 */
void deferred_stacks_go_on(struct deferred_stacks *deferred);
void deferred_stacks_deinit(struct deferred_stacks *deferred);

/* Keeps a copy of a deferred stack. len: length of the copy in bytes. */
void deferred_stacks_take(struct deferred_stacks *deferred, const struct memleak_stack_copy *copy,
			  size_t len);

bool deferred_stacks_is_waiting(const struct deferred_stacks *deferred, uint32_t image);

/*
 * Finishes pending stacks of an image. most: maximum number of stacks to finish. The mappings of
 * the process must have been read again since the programs walked the stacks.
 */
void deferred_stacks_finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
			    uint32_t image, size_t most, uint64_t deadline_ns);

/* Drops the pending stacks of all images for which is_known() returns false. */
void deferred_stacks_drop(struct deferred_stacks *deferred,
			  bool (*is_known)(void *arg, uint32_t image), void *arg);

#endif
