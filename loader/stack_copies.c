// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the ring of copied stacks. */
#include "loader/stack_copies.h"

#include <bpf/libbpf.h>
#include <errno.h>

/* To compare them takes its time. */
#define BATCH 16
/* So many batches at least hold what the ring can. */
#define RING_BATCHES 64

/* A negative number makes the ring stop behind this one. Late ones are put aside at once. */
static int handle_copy(void *arg, void *data, size_t len)
{
	const struct memleak_stack_copy *copy = data;
	struct stack_copies *copies = arg;

	if (copy->late) {
		unwind_late_take(&copies->late, copy, len);
		return 0;
	}
	if (len >= sizeof(*copy) && copies->check)
		unwind_check__take(copies->check, copy);
	return --copies->left_in_batch ? 0 : -EAGAIN;
}

int stack_copies_init(struct stack_copies *copies, int ring_fd)
{
	copies->late.reference = &copies->reference;
	copies->ring = ring_buffer__new(ring_fd, handle_copy, copies, NULL);
	return copies->ring ? 0 : -errno;
}

void stack_copies_deinit(struct stack_copies *copies)
{
	ring_buffer__free(copies->ring);
	copies->ring = NULL;
	unwind_late_deinit(&copies->late);
	unwind_check__free(copies->check);
	copies->check = NULL;
	reference_spaces_deinit(&copies->reference);
}

int stack_copies_poll_fd(const struct stack_copies *copies)
{
	return ring_buffer__epoll_fd(copies->ring);
}

bool stack_copies_consume(struct stack_copies *copies)
{
	copies->left_in_batch = BATCH;
	return ring_buffer__consume(copies->ring) == -EAGAIN;
}

void stack_copies_drain(struct stack_copies *copies)
{
	for (int i = 0; i < RING_BATCHES && stack_copies_consume(copies); i++)
		;
}

void stack_copies_refresh(struct stack_copies *copies, const struct reference_subject *subject)
{
	if (!copies->check || reference_spaces_find(&copies->reference, subject->generation))
		return;
	reference_spaces_add(&copies->reference, subject);
	/* While it is still known what those in the ring have met. */
	stack_copies_drain(copies);
}
