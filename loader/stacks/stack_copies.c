// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the ring buffer through which the BPF programs send copies of stacks. */
#include "loader/stacks/stack_copies.h"

#include <bpf/libbpf.h>
#include <errno.h>

/* Maximum copies compared per call of stack_copies_consume(), since comparing is slow. */
#define BATCH 16
/* Number of batches that is enough to empty a full ring. */
#define RING_BATCHES 64

/*
 * Stores the copy of a deferred stack, or compares a copy of any other stack. Returns a negative
 * number to stop reading the ring after this copy.
 */
static int handle_copy(void *arg, void *data, size_t len)
{
	const struct memleak_stack_copy *copy = data;
	struct stack_copies *copies = arg;

	if (copy->deferred) {
		deferred_stacks_take(&copies->deferred, copy, len);
		return 0;
	}
	if (len >= sizeof(*copy) && copies->comparison.wanted)
		comparison_take(&copies->comparison, &copies->walker, copy);
	return --copies->batch_remaining ? 0 : -EAGAIN;
}

int stack_copies_init(struct stack_copies *copies, int ring_fd)
{
	copies->deferred.walker = &copies->walker;
	copies->ring = ring_buffer__new(ring_fd, handle_copy, copies, NULL);
	return copies->ring ? 0 : -errno;
}

void stack_copies_deinit(struct stack_copies *copies)
{
	ring_buffer__free(copies->ring);
	copies->ring = NULL;
	deferred_stacks_deinit(&copies->deferred);
	comparison_deinit(&copies->comparison);
	walker_spaces_deinit(&copies->walker);
}

int stack_copies_poll_fd(const struct stack_copies *copies)
{
	return ring_buffer__epoll_fd(copies->ring);
}

bool stack_copies_consume(struct stack_copies *copies)
{
	copies->batch_remaining = BATCH;
	return ring_buffer__consume(copies->ring) == -EAGAIN;
}

void stack_copies_drain(struct stack_copies *copies)
{
	for (int i = 0; i < RING_BATCHES && stack_copies_consume(copies); i++)
		;
}

void stack_copies_finish(struct stack_copies *copies)
{
	if (!copies->comparison.wanted)
		return;
	stack_copies_drain(copies);
	copies->comparison.deferred_cnt = copies->deferred.finished;
	comparison_say(&copies->comparison);
}

void stack_copies_drop_unused(struct stack_copies *copies)
{
	/*
	 * If stacks are compared, the helper gets mappings before a stack needs them: do not drop
	 * them.
	 */
	if (!copies->comparison.wanted)
		walker_spaces_drop_unused(&copies->walker);
}

void stack_copies_refresh(struct stack_copies *copies, const struct walker_subject *subject)
{
	if (!copies->comparison.wanted || walker_spaces_find(&copies->walker, subject->generation))
		return;
	walker_spaces_add(&copies->walker, subject);
	/*
	 * Process the copies in the ring now. They need older mappings, which walker_spaces_add()
	 * drops after a few more calls.
	 */
	stack_copies_drain(copies);
}
