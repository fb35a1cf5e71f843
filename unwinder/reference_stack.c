// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares two walks of one stack. */
#include "unwinder/reference_stack.h"

/* All frames that both have are equal: what their ends say. */
static enum agreement_verdict compare_ends(size_t cnt, enum unwind_end end,
					   const struct reference_stack *reference)
{
	bool finished = reference->end == REFERENCE_FINISHED;
	bool out_of_reach = reference->end == REFERENCE_BEYOND || reference->end == REFERENCE_LIMIT;

	/* One said that there is no more, the other has found more. */
	if ((end == UNWIND_END_COMPLETE && reference->cnt > cnt) ||
	    (finished && cnt > reference->cnt))
		return AGREEMENT_DIFFERS;
	if (end == UNWIND_END_COMPLETE) {
		if (finished)
			return AGREEMENT_SAME;
		return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_ONLY_WALK;
	}
	/* A walk that keeps no more frames has done all it should. */
	if (end == UNWIND_END_TRUNCATED && reference->cnt >= cnt)
		return AGREEMENT_SAME;
	if (end == UNWIND_END_TRUNCATED)
		return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_ONLY_WALK;
	if (finished || (out_of_reach && reference->cnt > cnt))
		return AGREEMENT_ONLY_REFERENCE;
	return out_of_reach ? AGREEMENT_BEYOND : AGREEMENT_NEITHER;
}

struct agreement agreement_find(const uint64_t *frames, size_t cnt, enum unwind_end end,
				const struct reference_stack *reference)
{
	size_t both = cnt < reference->cnt ? cnt : reference->cnt, same = 0;
	struct agreement found = {AGREEMENT_DIFFERS, 0, 0};

	while (same < both && frames[same] == reference->frames[same])
		same++;
	found.last = same ? same - 1 : 0;
	found.compared = same < both ? same : found.last;
	if (same == both)
		found.verdict = compare_ends(cnt, end, reference);
	return found;
}
