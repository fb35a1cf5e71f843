/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes what the programs send of stacks to whoever walks them again. */
#ifndef STACK_COPIES_H
#define STACK_COPIES_H

#include "loader/unwind_check.h"
#include "loader/unwind_late.h"

struct stack_copies {
	struct ring_buffer *ring;
	struct reference_spaces reference;
	struct unwind_late late;
	struct unwind_check *check; /* NULL: nobody asked for one */
	uint32_t left_in_batch;
};

/* late, but for its reference, and check are set, and are freed with it. 0 or a negative errno. */
int stack_copies_init(struct stack_copies *copies, int ring_fd);
void stack_copies_deinit(struct stack_copies *copies);

/* Readable when there is something to consume. */
int stack_copies_poll_fd(const struct stack_copies *copies);
/* Takes a few, so that nothing else waits long; true: there may be more. */
bool stack_copies_consume(struct stack_copies *copies);
/* Takes all that there are. */
void stack_copies_drain(struct stack_copies *copies);

/* The programs walk the stacks of a process by what it maps now. */
void stack_copies_refresh(struct stack_copies *copies, const struct reference_subject *subject);

#endif
