/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the copies of stacks that the BPF programs send. Stores copies of deferred stacks, and
 * compares copies of other stacks.
 */
#ifndef LOADER_STACKS_STACK_COPIES_H
#define LOADER_STACKS_STACK_COPIES_H

#include "loader/stacks/comparison.h"
#include "loader/stacks/deferred_stacks.h"

struct stack_copies {
	struct ring_buffer *ring;
	struct walker_spaces walker;
	struct deferred_stacks deferred;
	struct comparison comparison;
	uint32_t batch_remaining;
};

/*
 * Opens the ring buffer. Before, set comparison.wanted and walker.budgets, and in `deferred` the
 * fields `stacks`, `spaces` and `watch`. Returns 0 or a negative errno.
 */
int stack_copies_init(struct stack_copies *copies, int ring_fd);
void stack_copies_deinit(struct stack_copies *copies);

/*
 * If stacks are compared, processes the remaining copies and logs the result of the comparison.
 * Call when no more stacks are sent.
 */
void stack_copies_finish(struct stack_copies *copies);

/* Returns a descriptor that is readable when the ring has copies. */
int stack_copies_poll_fd(const struct stack_copies *copies);
/* Processes the next copies in the ring. Returns true if the ring may contain more copies. */
bool stack_copies_consume(struct stack_copies *copies);
/* Processes all copies in the ring. */
void stack_copies_drain(struct stack_copies *copies);

/*
 * Lets libdwfl's helper close the files of mappings that no stack has needed since the last call,
 * so that their file systems can be unmounted. Does nothing if stacks are compared.
 */
void stack_copies_drop_unused(struct stack_copies *copies);

/*
 * If stacks are compared, sends the current mappings of the process to libdwfl's helper, for stacks
 * walked from now on. Also processes all copies in the ring.
 */
void stack_copies_refresh(struct stack_copies *copies, const struct walker_subject *subject);

#endif
