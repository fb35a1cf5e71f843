/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and walks the heaps of an arena. */
#ifndef PROOF_ARENA_HEAPS_H
#define PROOF_ARENA_HEAPS_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/*
 * Adds all heaps of an arena to the set. Returns -EILSEQ if a heap cannot be walked to its end;
 * also if the arena's free lists do not contain exactly its free chunks, unless memory may change
 * while it is read. With -EILSEQ, the address ranges of the heaps that were found are added as
 * unknown memory. After any other negative errno, the census must end. *ret_torn: true if the arena
 * changed while it was read, so that some free chunks count as used.
 */
int arena_heaps_walk(struct heap_reader *reader, const struct heap_arena *arena,
		     struct heap_set *set, bool *ret_torn);

#endif
