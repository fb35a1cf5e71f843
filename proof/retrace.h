/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Backwards through memory in which nobody knows the blocks, as what an allocator had handed out
 * before it was watched: from a place to what points to the block that the place seems to be in, to
 * the place where that pointer stands, and so on up to a variable or a stack. Each step looks at
 * all of the process's memory once, for all places together.
 *
 * The block seems to begin at the last address up to the place that anything points to. So what is
 * found is likely, not certain. Knows nothing of sites.
 */
#ifndef PROOF_RETRACE_H
#define PROOF_RETRACE_H

#include "proof/heap_proof.h"

/* So many of the pointers to a block are followed. */
#define RETRACE_SLOTS 4
#define RETRACE_NONE SIZE_MAX

/* Pointers to where a block seems to begin, of those that stand in memory of one sort. */
struct sight {
	uint64_t target;
	uint64_t slots[RETRACE_SLOTS];
	size_t cnt;
};

enum sight_of {
	SIGHT_TELLING, /* a variable, whose name says who it is */
	SIGHT_MEMORY,  /* other memory, where the way may go on */
	SIGHT_LAST,    /* roots that count where there is nobody else, as stacks */
	SIGHT_CNT,
};

/* Where the way goes on from a slot. */
struct retrace_way {
	bool is_end;                    /* nowhere: it is a root that says who it is of */
	const struct heap_block *block; /* as for retrace_add(); both not set: it is lost */
	uint64_t slot;
};

/* Where a way goes on: in a block that is not known, or at the begin of one that is. */
struct retrace_place {
	uint64_t addr;
	bool is_begin;
	uint64_t low;  /* the block does not begin below it, */
	uint64_t high; /* nor above it */
	struct sight sights[SIGHT_CNT];
	struct retrace_way ways[RETRACE_SLOTS]; /* from the slots in other memory; */
	size_t way_cnt;                         /* so many were looked at */
	bool is_held;                           /* the way from here to a root is known: */
	uint64_t slot;                          /* it begins with the pointer that stands here, */
	size_t next; /* and goes on from this place; RETRACE_NONE: it ends there */
};

struct retrace {
	struct retrace_place *places;
	size_t cnt;
	size_t cap;
};

/*
 * Notes where to begin for a block that is known: with what points to it, and where the pointer
 * stands by which it was found; 0: not known. 0 or -ENOMEM.
 */
int retrace_add(struct retrace *retrace, const struct heap_block *block, uint64_t slot);

/*
 * Finds out what can be within as much time as the proof has taken. Places stay where they are, and
 * others follow. 0 or -ENOMEM.
 */
int retrace_run(struct retrace *retrace, const struct heap_proof *proof,
		const struct heap_picture *picture);

/* The one of these two places that is held; NULL: none is. */
const struct retrace_place *retrace_find(const struct retrace *retrace,
					 const struct heap_block *block, uint64_t slot);

/* Where the way goes on from a place that is held; NULL: it ends there. */
static inline const struct retrace_place *retrace_next(const struct retrace *retrace,
						       const struct retrace_place *place)
{
	return place->next == RETRACE_NONE ? NULL : &retrace->places[place->next];
}

void retrace_deinit(struct retrace *retrace);

#endif
