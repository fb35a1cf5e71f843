// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds and adds frames without locks. A thread fills in a new frame, then publishes the frame's
 * number. If another thread has added an equal frame first, both threads use the frame that was
 * added first.
 */
#include "agent/call_tree.h"

/* Returns the next free frame number, 0 if there is no room. */
static uint32_t take_number(struct account *account)
{
	uint64_t most = region_bytes(account, ACCOUNT_FRAMES) / sizeof(struct account_frame);
	uint32_t number = __atomic_load_n(&account->frame_cnt, __ATOMIC_RELAXED);

	do {
		if (number >= most || number >> ACCOUNT_STACK_BITS)
			return 0;
	} while (!__atomic_compare_exchange_n(&account->frame_cnt, &number, number + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return number;
}

void call_tree_begin(struct account *account)
{
	account->frame_cnt = ACCOUNT_STACK_ENDS;
}

uint32_t call_tree_child(struct account *account, uint32_t parent, uint64_t frame, bool *ret_made)
{
	/*
	 * The multiplication is a bijection, so different frames have different hashes, and the
	 * trie has at most 64 levels.
	 */
	uint64_t hash = frame * 0x9e3779b97f4a7c15ULL;
	__u32 *place = &gate.frames[parent].first;
	uint32_t made = 0;

	*ret_made = false;
	for (;;) {
		uint32_t number = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!number) {
			if (!made)
				made = take_number(account);
			if (!made)
				return 0;
			gate.frames[made].frame = frame;
			gate.frames[made].parent = parent;
			if (__atomic_compare_exchange_n(place, &number, made, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				*ret_made = true;
				return made;
			}
		}
		/* If another thread has added an equal frame first, `made` remains unused. */
		if (gate.frames[number].frame == frame)
			return number;
		place = &gate.frames[number].next[hash >> 63];
		hash <<= 1;
	}
}
