/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deferred stacks (see struct memleak_stack) contain code that the BPF programs did not know, such
 * as a library that was just loaded. With each of these stacks, the BPF programs send a copy of the
 * stack's memory. If the code, once known, shows that a BPF program walked the stack wrongly,
 * libdwfl walks the copy, and its frames replace those that the BPF program found.
 */
#ifndef LOADER_STACKS_DEFERRED_STACKS_H
#define LOADER_STACKS_DEFERRED_STACKS_H

#include "loader/stacks/unwind_spaces.h"
#include "loader/stacks/walker_spaces.h"
#include "loader/tables/stack_table.h"

struct deferred_stacks {
	struct stack_table *stacks;
	const struct unwind_spaces *spaces;
	struct ring_buffer *ring; /* through which the BPF programs send copies */
	struct walker_spaces walker;
	/* Limits how many copies the BPF programs send; shared with them. */
	volatile struct memleak_deferred_watch *watch;
	struct deferred_stack **waiting;
	size_t waiting_cnt;
	size_t waiting_cap;
	size_t waiting_bytes;
	size_t file_cnt; /* number of unwind tables at the last deferred_stacks_finish() */
	uint64_t taken;
	uint64_t finished; /* number of stacks that libdwfl walked to the end */
	/* number of stacks that stay cut: libdwfl failed, or the copy was not stored */
	uint64_t cut;
};

/*
 * Opens the ring buffer. Before, set `stacks`, `spaces`, `watch` and walker.budgets. Returns 0 or a
 * negative errno.
 */
int deferred_stacks_init(struct deferred_stacks *deferred, int ring_fd);
/* Allows the BPF programs to send copies. */
void deferred_stacks_start(struct deferred_stacks *deferred);
/*
 * Allows the BPF programs to send a few more copies, even if libdwfl has completed no stack so far.
 * Call after each snapshot.
 */
void deferred_stacks_go_on(struct deferred_stacks *deferred);
void deferred_stacks_deinit(struct deferred_stacks *deferred);

/* Returns a descriptor that is readable when the ring has copies. */
int deferred_stacks_poll_fd(const struct deferred_stacks *deferred);
/* Stores the copies in the ring. Stacks whose copies do not fit into memory stay cut. */
void deferred_stacks_consume(struct deferred_stacks *deferred);

bool deferred_stacks_is_waiting(const struct deferred_stacks *deferred, uint32_t image);

/*
 * Completes at most `most` pending stacks of an image; stops at the deadline. The process's
 * mappings must have been read after the BPF programs walked these stacks.
 */
void deferred_stacks_finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
			    uint32_t image, size_t most, uint64_t deadline_ns);

/* Drops the pending stacks of all images for which is_known() returns false. */
void deferred_stacks_drop(struct deferred_stacks *deferred,
			  bool (*is_known)(void *arg, uint32_t image), void *arg);

#endif
