/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the chunks of the main arena. They are below the break, in several runs if other callers of
 * brk() move the break, too. Once the break cannot move, glibc uses anonymous mappings instead.
 */
#ifndef PROOF_MAIN_HEAP_H
#define PROOF_MAIN_HEAP_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/*
 * Adds all runs to the set. Returns -EILSEQ if they cannot be found; then discard the set. If the
 * arena is scattered, may miss runs and still return 0.
 */
int main_heap_walk(struct heap_reader *reader, const struct heap_arena *arena,
		   struct heap_set *set);

/* Adds the mappings of the break and of the top chunk to the set as unknown ranges. */
int main_heap_add_unknown(struct heap_reader *reader, const struct heap_arena *arena,
			  struct heap_set *set);

#endif
