/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the copies of stacks that the programs send, for those who walk them again. */
#ifndef LOADER_STACKS_STACK_COPIES_H
#define LOADER_STACKS_STACK_COPIES_H

#include "loader/stacks/comparison.h"
#include "loader/stacks/deferred_stacks.h"

struct stack_copies {
	struct ring_buffer *ring;
	struct walker_spaces walker;
	struct deferred_stacks deferred;
	struct comparison comparison;
	uint32_t left_in_batch;
};

/*
 * The caller has set what deferred needs, but for its walker, and how many stacks are to be
 * compared. 0 or a negative errno.
 */
int stack_copies_init(struct stack_copies *copies, int ring_fd);
void stack_copies_deinit(struct stack_copies *copies);

/* No more stacks come: takes those that are left, and says what the comparison came to. */
void stack_copies_finish(struct stack_copies *copies);

/* Readable when there are copies to consume. */
int stack_copies_poll_fd(const struct stack_copies *copies);
/* Takes a few copies, so that nothing else waits long. True: there may be more. */
bool stack_copies_consume(struct stack_copies *copies);
/* Takes all copies that there are. */
void stack_copies_drain(struct stack_copies *copies);

/* From now on the programs walk the stacks of a process by what it maps now. */
void stack_copies_refresh(struct stack_copies *copies, const struct walker_subject *subject);

#endif
