// SPDX-License-Identifier: GPL-2.0-or-later
/* Separates the script frames of stacks from the native ones. */
#include "loader/tables/script_frames.h"

#include <string.h>

/* Size of a script frame in 64-bit words. */
#define WORDS (sizeof(struct memleak_script_frame) / sizeof(uint64_t))

void script_frames_take(struct memleak_stack *stack, size_t depth, struct script_frames *ret)
{
	size_t cnt = stack->script_cnt;

	stack->script_cnt = 0;
	ret->cnt = 0;
	if (cnt > MEMLEAK_SCRIPT_FRAMES_MAX || stack->frame_cnt + cnt * WORDS > depth)
		return;
	ret->cnt = cnt;
	memcpy(ret->items, stack->frames + stack->frame_cnt, cnt * sizeof(*ret->items));
}

void script_frames_put(const struct script_frames *frames, size_t depth,
		       struct memleak_stack *stack)
{
	size_t room = stack->frame_cnt < depth ? (depth - stack->frame_cnt) / WORDS : 0;
	size_t cnt = frames->cnt < room ? frames->cnt : room;

	memcpy(stack->frames + stack->frame_cnt, frames->items, cnt * sizeof(*frames->items));
	stack->script_cnt = (uint8_t)(cnt & MEMLEAK_SCRIPT_FRAMES_BITS);
}

bool script_frames_are_cut(const struct script_frames *frames)
{
	return frames->cnt && frames->items[frames->cnt - 1].code & MEMLEAK_SCRIPT_CUT;
}

static uint64_t hash_frame(const struct memleak_script_frame *frame, uint64_t hash)
{
	hash = hash_mix(hash, MEMLEAK_SCRIPT_CODE(frame));
	hash = hash_mix(hash, frame->instr | (uint64_t)frame->cookie << 32);
	if (frame->code & MEMLEAK_SCRIPT_BORDER)
		hash = hash_mix(hash, MEMLEAK_SCRIPT_BORDER);
	if (frame->code & MEMLEAK_SCRIPT_CUT)
		hash = hash_mix(hash, MEMLEAK_SCRIPT_CUT);
	return hash;
}

uint64_t script_frames_hash(const struct script_frames *frames, uint64_t hash)
{
	uint64_t scripts = 0;

	for (size_t i = 0; i < frames->cnt; i++)
		scripts = hash_frame(&frames->items[i], scripts);
	if (!frames->cnt)
		return hash;
	hash = hash_mix(hash, scripts);
	return hash ? hash : 1;
}
