/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the chunks of the main arena. They are below the program break, in several runs if other
 * code than malloc() also moves the break. Once the break cannot be moved, glibc uses anonymous
 * mappings instead.
 */
#ifndef PROOF_MAIN_HEAP_H
#define PROOF_MAIN_HEAP_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/*
 * Adds all runs of chunks to the set. Returns 0, -EILSEQ if the runs cannot be found, or -ENOMEM;
 * after a failure, discard the set. If the arena is scattered (see heap_arena.h), may miss runs and
 * still return 0.
 */
int main_heap_walk(struct heap_reader *reader, const struct heap_arena *arena,
		   struct heap_set *set);

/*
 * Adds the mapping that brk() grows and that of the top chunk as unknown ranges. Returns 0 or
 * -ENOMEM.
 */
int main_heap_add_unknown(struct heap_reader *reader, const struct heap_arena *arena,
			  struct heap_set *set);

#endif
