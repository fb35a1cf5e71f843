/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of the main arena are: below the break, in several runs if others have moved
 * that as well, and in anonymous mappings once it cannot be moved any more.
 */
#ifndef PROOF_MAIN_HEAP_H
#define PROOF_MAIN_HEAP_H

#include "proof/heap_arena.h"
#include "proof/heap_set.h"

/* Adds all runs. -EILSEQ: they cannot be told, and what was added is of no use. */
int main_heap_walk(struct heap_reader *reader, const struct heap_arena *arena,
		   struct heap_set *set);

/* Adds where they may be as unknown. */
int main_heap_add_unknown(struct heap_reader *reader, const struct heap_arena *arena,
			  struct heap_set *set);

#endif
