/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the function whose stack frame contains a given word. Copies the stack from the stack
 * pointer up to this word, and unwinds the copy with libdwfl. The last frame that the unwind
 * reaches contains the word. Does not resolve names.
 */
#ifndef PROOF_FRAME_FINDER_H
#define PROOF_FRAME_FINDER_H

#include "loader/stacks/user_budgets.h"
#include "loader/stacks/walker_spaces.h"
#include "proof/heap_proof.h"

/* Initialise with zeros. */
struct frame_finder {
	struct walker_spaces walker;
	struct user_budgets budgets;
	/*
	 * Number by which the walker identifies the mappings of a process. It is new for each
	 * picture.
	 */
	uint32_t generation;
	size_t cnt; /* number of slots looked up in the current picture */
};

void frame_finder_deinit(struct frame_finder *finder);

/* Call before the first lookup in a new picture. */
void frame_finder_begin(struct frame_finder *finder);

/*
 * Returns an address in the code of the function whose frame contains the pointer at `slot`, an
 * address on the stack of `thread`. The result is a return address, or 0 if the function is
 * unknown.
 */
uint64_t frame_finder_find(struct frame_finder *finder, const struct heap_picture *picture,
			   const struct thread_state *thread, uint64_t slot);

#endif
