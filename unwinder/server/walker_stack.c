// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares libdwfl's walk of a stack with another walk. */
#include "unwinder/server/walker_stack.h"

/* Returns the verdict on two walks whose frames are equal up to the end of the shorter walk. */
static enum agreement_verdict compare_ends(size_t cnt, enum unwind_end end,
					   const struct walker_stack *walker)
{
	bool finished = walker->end == WALKER_FINISHED;
	bool out_of_reach = walker->end == WALKER_BEYOND || walker->end == WALKER_LIMIT;

	/* One walk was complete, but the other walk has more frames. */
	if ((end == UNWIND_END_COMPLETE && walker->cnt > cnt) || (finished && cnt > walker->cnt))
		return AGREEMENT_DIFFERS;
	if (end == UNWIND_END_COMPLETE) {
		if (finished)
			return AGREEMENT_SAME;
		return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_ONLY_WALK;
	}
	/* A truncated walk is correct if libdwfl's walk begins with the same frames. */
	if (end == UNWIND_END_TRUNCATED && walker->cnt >= cnt)
		return AGREEMENT_SAME;
	if (end == UNWIND_END_TRUNCATED)
		return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_ONLY_WALK;
	if (finished || (out_of_reach && walker->cnt > cnt))
		return AGREEMENT_ONLY_WALKER;
	return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_NEITHER;
}

struct agreement agreement_find(const uint64_t *frames, size_t cnt, enum unwind_end end,
				const struct walker_stack *walker)
{
	size_t both = cnt < walker->cnt ? cnt : walker->cnt, same = 0;
	struct agreement found = {AGREEMENT_DIFFERS, 0, 0};

	while (same < both && frames[same] == walker->frames[same])
		same++;
	found.last = same ? same - 1 : 0;
	found.compared = same < both ? same : found.last;
	if (same == both)
		found.verdict = compare_ends(cnt, end, walker);
	return found;
}
