/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and walks the heaps of an arena. */
#ifndef PROOF_ARENA_HEAPS_H
#define PROOF_ARENA_HEAPS_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/*
 * Adds all heaps of an arena to the set. Returns -EILSEQ if a heap cannot be walked to its end, or
 * if the arena's lists do not hold exactly its free chunks: then the known ranges of the heaps are
 * added as unknown. Any other negative errno ends the census.
 */
int arena_heaps_walk(struct heap_reader *reader, const struct heap_arena *arena,
		     struct heap_set *set);

#endif
