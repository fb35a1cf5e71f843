/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the chunks of an arena are: its heaps are found and walked. */
#ifndef PROOF_ARENA_HEAPS_H
#define PROOF_ARENA_HEAPS_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/*
 * Adds all heaps of an arena to the set if they can be walked to their ends, and free chunks are in
 * the arena's lists and nothing else is. -EILSEQ: it is not so; then what is known of where they
 * are is added as unknown. Any other negative errno ends the census.
 */
int arena_heaps_walk(struct heap_reader *reader, const struct heap_arena *arena,
		     struct heap_set *set);

#endif
