// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps copies of late stacks until their code is known, and puts the true stacks into place. */
#include "loader/unwind_late.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/tracker_recycle.h"

/*
 * How many may be sent for nothing, through code that has no table or was what it was taken for:
 * when there is a new file with a table, and for each report.
 */
#define USELESS_MAX 4096
#define USELESS_LATER 64

/* More memory is not spent on them. */
#define WAITING_BYTES_MAX (64U << 20)

/* The stack is in the tracker's table meanwhile. */
struct late_stack {
	size_t len;
	struct memleak_stack_copy copy; /* the first len bytes of it */
};

static void allow(struct unwind_late *late, uint64_t more)
{
	if (late->watch->limit < late->watch->sent + more)
		late->watch->limit = late->watch->sent + more;
}

void unwind_late_start(struct unwind_late *late)
{
	allow(late, USELESS_MAX);
}

void unwind_late_go_on(struct unwind_late *late)
{
	if (late->watch->limit)
		allow(late, USELESS_LATER);
}

void unwind_late_deinit(struct unwind_late *late)
{
	if (late->taken)
		log_verbose("late stacks: %" PRIu64 " came, %" PRIu64
			    " of them finished by libdwfl, %" PRIu64 " cut",
			    late->taken, late->finished, late->cut);
	for (size_t i = 0; i < late->waiting_cnt; i++)
		free(late->waiting[i]);
	free(late->waiting);
	late->waiting = NULL;
	late->waiting_cnt = 0;
}

static void remove_at(struct unwind_late *late, size_t at)
{
	late->waiting_bytes -= late->waiting[at]->len;
	free(late->waiting[at]);
	late->waiting[at] = late->waiting[--late->waiting_cnt];
}

void unwind_late_drop(struct unwind_late *late, bool (*is_known)(void *arg, uint32_t image),
		      void *arg)
{
	for (size_t i = late->waiting_cnt; i-- > 0;)
		if (!is_known(arg, late->waiting[i]->copy.image))
			remove_at(late, i);
}

static int keep(struct unwind_late *late, const struct memleak_stack_copy *copy, size_t len)
{
	struct late_stack **grown, *kept;

	if (late->waiting_bytes + len > WAITING_BYTES_MAX)
		return -ENOSPC;
	grown = reallocarray(late->waiting, late->waiting_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	late->waiting = grown;
	kept = malloc(offsetof(struct late_stack, copy) + len);
	if (!kept)
		return -ENOMEM;
	kept->len = len;
	memcpy(&kept->copy, copy, len);
	grown[late->waiting_cnt++] = kept;
	late->waiting_bytes += len;
	return 0;
}

void unwind_late_take(struct unwind_late *late, const struct memleak_stack_copy *copy, size_t len)
{
	late->taken++;
	if (keep(late, copy, len))
		late->cut++;
}

/* Takes the frames from libdwfl. An interrupted one is where it was. */
static void take_frames(struct memleak_stack *stack, uint32_t depth,
			const struct reference_stack *reference)
{
	size_t cnt = reference->cnt < depth ? reference->cnt : depth;

	for (size_t i = 0; i < cnt; i++) {
		uint64_t before = i < stack->frame_cnt ? stack->frames[i] : 0;

		stack->frames[i] = reference->frames[i];
		if (MEMLEAK_FRAME_IS_EXACT(before) &&
		    MEMLEAK_FRAME_ADDR(before) == reference->frames[i])
			stack->frames[i] |= MEMLEAK_FRAME_EXACT;
	}
	stack->frame_cnt = (uint16_t)cnt;
	stack->end = reference->cnt > cnt ? UNWIND_END_TRUNCATED : UNWIND_END_COMPLETE;
	stack->known_unloads = stack->unloads;
}

/* False: libdwfl does not know the code, or finds no end. */
static bool walk_again(struct unwind_late *late, const struct reference_subject *subject,
		       const struct late_stack *waiting, struct memleak_stack *stack)
{
	cleanup_free struct memleak_stack_copy *whole = calloc(1, sizeof(*whole));
	const struct reference_code_space *space;
	struct reference_stack found;

	if (!whole || reference_spaces_add(late->reference, subject))
		return false;
	/* Nothing was unloaded since, so what was there then is where it was. */
	if ((uint16_t)subject->unloads != stack->unloads)
		return false;
	memcpy(whole, &waiting->copy, waiting->len);
	space = reference_spaces_find(late->reference, subject->generation);
	if (!space || reference_spaces_walk(late->reference, space, &whole->copy, &found))
		return false;
	if (found.end != REFERENCE_FINISHED && found.cnt <= late->tracker->stack_depth)
		return false;
	take_frames(stack, late->tracker->stack_depth, &found);
	return true;
}

static void finish(struct unwind_late *late, const struct reference_subject *subject,
		   const struct late_stack *waiting)
{
	uint32_t depth = late->tracker->stack_depth;
	cleanup_free struct memleak_stack *stack =
		malloc(sizeof(*stack) + depth * sizeof(uint64_t));
	uint64_t id = waiting->copy.late;
	bool misled;

	if (!stack || bpf_map_lookup_elem(late->tracker->stacks_fd, &id, stack))
		return; /* its image is gone, or there was no room */
	misled = code_history_misled(&late->maps->history, waiting->copy.image, stack);
	if (misled && walk_again(late, subject, waiting, stack)) {
		late->finished++;
		late->watch->limit++;
	} else if (misled || stack->end >= UNWIND_END_NO_CODE) {
		late->cut++;
	}
	stack->late = 0;
	tracker_recycle_stack(late->tracker, id, stack);
}

bool unwind_late_is_waiting(const struct unwind_late *late, uint32_t image)
{
	for (size_t i = 0; i < late->waiting_cnt; i++)
		if (late->waiting[i]->copy.image == image)
			return true;
	return false;
}

void unwind_late_finish(struct unwind_late *late, const struct reference_subject *subject,
			uint32_t image, size_t most)
{
	if (late->file_cnt != late->maps->files.table_cnt) {
		late->file_cnt = late->maps->files.table_cnt;
		allow(late, USELESS_MAX);
	}
	/* From the end on: what is moved into the place of one that goes was seen already. */
	for (size_t i = late->waiting_cnt; i-- > 0 && most;) {
		if (late->waiting[i]->copy.image != image)
			continue;
		finish(late, subject, late->waiting[i]);
		remove_at(late, i);
		most--;
	}
}
