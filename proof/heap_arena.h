/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc's arenas (struct malloc_state), found without symbols: the heads of their 127 lists of free
 * chunks lie side by side, and each that is empty points to itself. Where the chunks are that an
 * arena has is not known here.
 */
#ifndef PROOF_HEAP_ARENA_H
#define PROOF_HEAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"

#define ARENA_FAST_BINS 10U
#define ARENA_BINS 127U

struct heap_arena {
	uint64_t addr; /* of the structure itself; 0: not known, as no other arena points to it */
	uint64_t start, end; /* of what is certainly its own */
	uint64_t lists;      /* of its pointer to the top chunk, which the list heads follow */
	uint64_t top;
	uint64_t next; /* the arena that it is in a ring with */
	/*
	 * What it has of the system, in bytes, if the count of its threads stands before that, and
	 * if there is no such count.
	 */
	uint64_t system_bytes[2];
	bool main;
	bool scattered;                     /* its memory is not all below the break */
	uint64_t fast[ARENA_FAST_BINS];     /* first chunks; of 32 bytes, 48 ... */
	uint64_t forward_sum, backward_sum; /* of links from and to the heads: see heap_map.h */
};

struct heap_arenas {
	struct heap_arena *items;
	size_t cnt, cap;
};

/* Finds all. Fails only with -ENOMEM. ret is to be given to heap_arenas_deinit. */
int heap_arenas_find(struct heap_reader *reader, struct heap_arenas *ret);
void heap_arenas_deinit(struct heap_arenas *arenas);

#endif
