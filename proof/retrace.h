/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches backwards through memory whose blocks are unknown, such as memory allocated before
 * tracing began. From an address, it finds pointers to the block around that address, then pointers
 * to the blocks around those pointers, and so on up to a variable or a stack. Each step reads all
 * of the process's memory once, for all addresses together.
 *
 * A block is assumed to begin at the highest pointer target at or below the address, so results are
 * likely, not certain. Does not know sites.
 */
#ifndef PROOF_RETRACE_H
#define PROOF_RETRACE_H

#include "proof/heap_proof.h"

/* Maximum pointers to a block to follow. */
#define RETRACE_SLOTS 4
#define RETRACE_NONE SIZE_MAX

/* Pointers to the assumed start of a block, found in one kind of memory. */
struct sight {
	uint64_t target;
	uint64_t slots[RETRACE_SLOTS];
	size_t cnt;
};

enum sight_of {
	SIGHT_TELLING, /* a variable, whose name tells its owner */
	SIGHT_MEMORY,  /* other memory, where the search may continue */
	SIGHT_LAST,    /* roots that count only if nothing else is found, such as stacks */
	SIGHT_CNT,
};

/* Where the search continues from a slot. */
struct retrace_way {
	bool is_end; /* ends here: the slot is in a root with a known owner */
	/* Known block to continue from, or NULL; NULL with slot 0: the block is lost. */
	const struct heap_block *block;
	uint64_t slot;
};

/* A place to search from: an address in an unknown block, or the start of a known block. */
struct retrace_place {
	uint64_t addr;
	bool is_begin;
	uint64_t low;  /* lowest possible start of the block */
	uint64_t high; /* highest possible start of the block */
	struct sight sights[SIGHT_CNT];
	struct retrace_way ways[RETRACE_SLOTS]; /* ways onwards from the slots in other memory */
	size_t way_cnt;                         /* number of ways that are filled in */
	bool is_held;                           /* true if the way from here to a root is known */
	uint64_t slot;                          /* slot of the first pointer on this way */
	size_t next; /* index of the next place on this way, RETRACE_NONE at its end */
};

struct retrace {
	struct retrace_place *places;
	size_t cnt;
	size_t cap;
};

/*
 * Adds places to start from: block (may be NULL), and slot, the address of the pointer that holds
 * it (0 if unknown). Returns 0 or -ENOMEM.
 */
int retrace_add(struct retrace *retrace, const struct heap_block *block, uint64_t slot);

/*
 * Searches for at most as long as the proof took. Existing places keep their indexes; new ones are
 * appended. Returns 0 or -ENOMEM.
 */
int retrace_run(struct retrace *retrace, const struct heap_proof *proof,
		const struct heap_picture *picture);

/* Returns the place of the block or of the slot, if its way to a root is known; else NULL. */
const struct retrace_place *retrace_find(const struct retrace *retrace,
					 const struct heap_block *block, uint64_t slot);

/* Returns the next place on the way, NULL at its end. */
static inline const struct retrace_place *retrace_next(const struct retrace *retrace,
						       const struct retrace_place *place)
{
	return place->next == RETRACE_NONE ? NULL : &retrace->places[place->next];
}

void retrace_deinit(struct retrace *retrace);

#endif
