/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which function has a word on a stack in its frame: libdwfl walks a copy of the stack that ends
 * before the word, and gets as far as to that function. Knows nothing of names.
 */
#ifndef PROOF_FRAME_FINDER_H
#define PROOF_FRAME_FINDER_H

#include "loader/stacks/user_budgets.h"
#include "loader/stacks/walker_spaces.h"
#include "proof/heap_proof.h"

/* All zeros at first. */
struct frame_finder {
	struct walker_spaces walker;
	struct user_budgets budgets;
	uint32_t generation; /* for the walker, of what the process of the picture has mapped */
	size_t cnt;          /* slots of that picture */
};

void frame_finder_deinit(struct frame_finder *finder);

/* Another picture comes. */
void frame_finder_begin(struct frame_finder *finder);

/*
 * The function in whose frame the pointer at slot stands: an address in its code, as a return
 * address; 0: not known.
 */
uint64_t frame_finder_find(struct frame_finder *finder, const struct heap_picture *picture,
			   const struct thread_state *thread, uint64_t slot);

#endif
