// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps copies of deferred stacks until their code is known, and then completes the stacks.
 */
#include "loader/stacks/deferred_stacks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "loader/tables/script_frames.h"

/*
 * Number of copies that the BPF programs may send even if libdwfl completes no stack: USELESS_MAX
 * at the start and after a file gets an unwind table, USELESS_LATER after each snapshot.
 */
#define USELESS_MAX 4096
#define USELESS_LATER 64

/* Maximum memory for pending copies, in bytes. */
#define WAITING_BYTES_MAX (64U << 20)

/* A pending copy of a stack's memory. The stack table has the frames that the BPF program found. */
struct deferred_stack {
	size_t len;
	struct memleak_stack_copy copy; /* only the first `len` bytes are allocated */
};

static void allow(struct deferred_stacks *deferred, uint64_t more)
{
	if (deferred->watch->limit < deferred->watch->sent + more)
		deferred->watch->limit = deferred->watch->sent + more;
}

void deferred_stacks_start(struct deferred_stacks *deferred)
{
	allow(deferred, USELESS_MAX);
}

void deferred_stacks_go_on(struct deferred_stacks *deferred)
{
	if (deferred->watch->limit)
		allow(deferred, USELESS_LATER);
}

void deferred_stacks_deinit(struct deferred_stacks *deferred)
{
	if (deferred->taken)
		log_verbose("deferred stacks: %" PRIu64 " received, %" PRIu64
			    " of them completed by libdwfl, %" PRIu64 " cut",
			    deferred->taken, deferred->finished, deferred->cut);
	for (size_t i = 0; i < deferred->waiting_cnt; i++)
		free(deferred->waiting[i]);
	free(deferred->waiting);
	ring_buffer__free(deferred->ring);
	walker_spaces_deinit(&deferred->walker);
	*deferred = (struct deferred_stacks){0};
}

static void remove_at(struct deferred_stacks *deferred, size_t at)
{
	deferred->waiting_bytes -= deferred->waiting[at]->len;
	free(deferred->waiting[at]);
	deferred->waiting[at] = deferred->waiting[--deferred->waiting_cnt];
}

void deferred_stacks_drop(struct deferred_stacks *deferred,
			  bool (*is_known)(void *arg, uint32_t image), void *arg)
{
	for (size_t i = deferred->waiting_cnt; i-- > 0;)
		if (!is_known(arg, deferred->waiting[i]->copy.image))
			remove_at(deferred, i);
}

static int keep(struct deferred_stacks *deferred, const struct memleak_stack_copy *copy, size_t len)
{
	struct deferred_stack *kept;

	if (deferred->waiting_bytes + len > WAITING_BYTES_MAX)
		return -ENOSPC;
	if (array_reserve(&deferred->waiting, &deferred->waiting_cap, deferred->waiting_cnt + 1))
		return -ENOMEM;
	kept = malloc(offsetof(struct deferred_stack, copy) + len);
	if (!kept)
		return -ENOMEM;
	kept->len = len;
	memcpy(&kept->copy, copy, len);
	deferred->waiting[deferred->waiting_cnt++] = kept;
	deferred->waiting_bytes += len;
	return 0;
}

static int handle_copy(void *arg, void *data, size_t len)
{
	struct deferred_stacks *deferred = arg;

	deferred->taken++;
	if (keep(deferred, data, len))
		deferred->cut++;
	return 0;
}

int deferred_stacks_init(struct deferred_stacks *deferred, int ring_fd)
{
	deferred->ring = ring_buffer__new(ring_fd, handle_copy, deferred, NULL);
	return deferred->ring ? 0 : -errno;
}

int deferred_stacks_poll_fd(const struct deferred_stacks *deferred)
{
	return ring_buffer__epoll_fd(deferred->ring);
}

void deferred_stacks_consume(struct deferred_stacks *deferred)
{
	ring_buffer__consume(deferred->ring);
}

/*
 * Replaces a stack's frames by the first `depth` of libdwfl's frames. A frame marked as exact keeps
 * the mark if libdwfl found the same address.
 */
static void take_frames(struct memleak_stack *stack, uint32_t depth,
			const struct walker_stack *walker)
{
	size_t cnt = walker->cnt < depth ? walker->cnt : depth;

	for (size_t i = 0; i < cnt; i++) {
		uint64_t before = i < stack->frame_cnt ? stack->frames[i] : 0;

		stack->frames[i] = walker->frames[i];
		if (MEMLEAK_FRAME_IS_EXACT(before) &&
		    MEMLEAK_FRAME_ADDR(before) == walker->frames[i])
			stack->frames[i] |= MEMLEAK_FRAME_EXACT;
	}
	stack->frame_cnt = (uint16_t)cnt;
	stack->end = walker->cnt > cnt ? UNWIND_END_TRUNCATED : UNWIND_END_COMPLETE;
	stack->known_unloads = stack->unloads;
}

/*
 * Walks the copy of a stack with libdwfl, and replaces the stack's frames. Returns false, and
 * changes nothing, unless libdwfl reaches the end or finds more frames than a stored stack can
 * have.
 */
static bool walk_again(struct deferred_stacks *deferred, const struct walker_subject *subject,
		       const struct deferred_stack *waiting, struct memleak_stack *stack)
{
	cleanup_free struct memleak_stack_copy *whole = calloc(1, sizeof(*whole));
	const struct walker_code_space *space;
	struct walker_stack found;

	if (!whole || walker_spaces_add(&deferred->walker, subject))
		return false;
	/*
	 * If libraries were unloaded after the BPF program walked the stack, libdwfl's mappings may
	 * not be those of the stack.
	 */
	if ((uint16_t)subject->unloads != stack->unloads)
		return false;
	memcpy(whole, &waiting->copy, waiting->len);
	space = walker_spaces_find(&deferred->walker, subject->generation);
	if (!space || walker_spaces_walk(&deferred->walker, space, &whole->copy, &found))
		return false;
	if (found.end != WALKER_FINISHED && found.cnt <= deferred->stacks->depth)
		return false;
	take_frames(stack, deferred->stacks->depth, &found);
	return true;
}

static void finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
		   const struct deferred_stack *waiting)
{
	uint32_t depth = deferred->stacks->depth;
	cleanup_free struct memleak_stack *stack =
		malloc(sizeof(*stack) + depth * sizeof(uint64_t));
	uint64_t id = waiting->copy.deferred;
	struct script_frames scripts;
	bool misled;

	if (!stack || bpf_map_lookup_elem(deferred->stacks->fd, &id, stack))
		return; /* the image is gone, or the stack table was full */
	script_frames_take(stack, depth, &scripts);
	misled = code_history_misled(&deferred->spaces->history, waiting->copy.image, stack);
	if (misled && walk_again(deferred, subject, waiting, stack)) {
		deferred->finished++;
		deferred->watch->limit++;
	} else if (misled || stack->end >= UNWIND_END_NO_CODE) {
		deferred->cut++;
	}
	stack->deferred = 0;
	script_frames_put(&scripts, depth, stack);
	stack_table_replace(deferred->stacks, id, stack);
}

bool deferred_stacks_is_waiting(const struct deferred_stacks *deferred, uint32_t image)
{
	for (size_t i = 0; i < deferred->waiting_cnt; i++)
		if (deferred->waiting[i]->copy.image == image)
			return true;
	return false;
}

void deferred_stacks_finish(struct deferred_stacks *deferred, const struct walker_subject *subject,
			    uint32_t image, size_t most, uint64_t deadline_ns)
{
	if (deferred->file_cnt != deferred->spaces->files.table_cnt) {
		deferred->file_cnt = deferred->spaces->files.table_cnt;
		allow(deferred, USELESS_MAX);
	}
	/* Go backwards, because remove_at() moves the last copy into the gap. */
	for (size_t i = deferred->waiting_cnt; i-- > 0 && most && clock_left_ms(deadline_ns);) {
		if (deferred->waiting[i]->copy.image != image)
			continue;
		finish(deferred, subject, deferred->waiting[i]);
		remove_at(deferred, i);
		most--;
	}
}
