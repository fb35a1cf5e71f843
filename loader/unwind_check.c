// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares copied stacks, and counts what comes of it. */
#include "loader/unwind_check.h"

#include <errno.h>
#include <stdlib.h>

#include "loader/unwind_verdicts.h"

struct unwind_check {
	struct reference_spaces *reference;
	uint32_t wanted;
	struct unwind_verdicts verdicts;
	struct reference_stack stack;
};

int unwind_check__new(struct reference_spaces *reference, uint32_t stack_cnt,
		      struct unwind_check **ret)
{
	struct unwind_check *check = calloc(1, sizeof(*check));

	if (!check)
		return -ENOMEM;
	check->reference = reference;
	check->wanted = stack_cnt;
	*ret = check;
	return 0;
}

void unwind_check__free(struct unwind_check *check)
{
	if (!check)
		return;
	unwind_verdicts_deinit(&check->verdicts);
	free(check);
}

static void compare(struct unwind_check *check, const struct reference_code_space *space,
		    const struct memleak_stack_copy *copy)
{
	uint64_t frames[MEMLEAK_MAX_STACK_DEPTH];
	struct agreement found;

	if (reference_spaces_walk(check->reference, space, &copy->copy, &check->stack))
		return;
	for (uint32_t i = 0; i < copy->frame_cnt; i++)
		frames[i] = MEMLEAK_FRAME_ADDR(copy->frames[i]);
	found = agreement_find(frames, copy->frame_cnt, copy->end, &check->stack);
	unwind_verdicts_add(&check->verdicts, &space->maps, frames, copy->frame_cnt, &check->stack,
			    &found);
}

void unwind_check__take(struct unwind_check *check, const struct memleak_stack_copy *copy)
{
	const struct reference_code_space *space =
		reference_spaces_find(check->reference, copy->generation);

	if (check->verdicts.stack_cnt >= check->wanted)
		return;
	if (!copy->frame_cnt || copy->frame_cnt > MEMLEAK_MAX_STACK_DEPTH)
		return;
	if (space)
		compare(check, space, copy);
	else
		check->verdicts.unknown_cnt++;
}

void unwind_check__finish(struct unwind_check *check, uint64_t late_cnt)
{
	check->verdicts.late_cnt = late_cnt;
	unwind_verdicts_say(&check->verdicts);
}
