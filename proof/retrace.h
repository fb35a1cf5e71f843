/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the holders of blocks backwards through memory whose blocks are unknown, such as memory
 * allocated before tracing began. From an address, finds pointers to the block that contains the
 * address, then pointers to the blocks that contain these pointers, and so on up to a variable or a
 * stack. Each step reads all memory of the process once, for all addresses at the same time.
 *
 * The block that contains an address is assumed to begin at the highest pointer target at or below
 * the address. So results are likely, but not certain.
 */
#ifndef PROOF_RETRACE_H
#define PROOF_RETRACE_H

#include "proof/heap_proof.h"

/* Maximum number of pointers to one block that are followed. */
#define RETRACE_SLOTS 4
#define RETRACE_NONE SIZE_MAX

/*
 * The pointers, found in one kind of memory, to the assumed start of a block. target: that start;
 * slots: addresses of the pointers.
 */
struct sight {
	uint64_t target;
	uint64_t slots[RETRACE_SLOTS];
	size_t cnt;
};

enum sight_of {
	SIGHT_VARIABLE, /* variables, whose names identify the owner */
	SIGHT_MEMORY,   /* other memory, where the search may continue */
	SIGHT_LAST,     /* roots, such as stacks, that count only if nothing else is found */
	SIGHT_CNT,
};

/*
 * Where the search continues after it has found a pointer to a place (struct retrace_place) at some
 * address, the found slot.
 */
struct retrace_way {
	/*
	 * true if the search ends: the found slot, or the chain of holders of its block, leads to a
	 * root with a known owner
	 */
	bool is_end;
	/*
	 * If the found slot is not in a known block, or if the program is a Python script, `block`
	 * is NULL and `slot` is the found slot. Otherwise, the search skips to the last block in
	 * the chain of holders of the known block: `block` is that last block, and `slot` is the
	 * root slot with the pointer to it (0 if unknown). But if the known block is lost, `block`
	 * is NULL and `slot` is 0.
	 */
	const struct heap_block *block;
	uint64_t slot;
};

/*
 * An address whose holders are searched for: an address in an unknown block, or the start of a
 * known block.
 */
struct retrace_place {
	uint64_t addr;
	bool is_begin;
	uint64_t low;  /* lowest possible start address of the block at addr */
	uint64_t high; /* highest possible start address of the block at addr */
	struct sight sights[SIGHT_CNT];
	/* for each slot of SIGHT_MEMORY: where the search continues */
	struct retrace_way ways[RETRACE_SLOTS];
	size_t way_cnt; /* number of elements of `ways` that are filled in */
	bool is_rooted; /* true if the way from here to a root is known */
	/* if is_rooted: address of the first pointer on the way to the root */
	uint64_t slot;
	/*
	 * if is_rooted: index of the next place on the way, RETRACE_NONE if the pointer is in the
	 * root
	 */
	size_t next;
};

struct retrace {
	struct retrace_place *places;
	size_t cnt;
	size_t cap;
};

/*
 * Adds up to two places: the start of `block`, unless it is NULL, and the address `slot`, unless it
 * is 0. Returns 0 or -ENOMEM.
 */
int retrace_add(struct retrace *retrace, const struct heap_block *block, uint64_t slot);

/*
 * Searches from all places. Takes at most as long as the proof took, or up to 0.1 s if the proof
 * was faster. Existing places keep their indexes; new places are appended. Returns 0 or -ENOMEM.
 */
int retrace_run(struct retrace *retrace, const struct heap_proof *proof,
		const struct heap_picture *picture);

/*
 * Returns a place with a known way to a root: that of `block` if possible, else that of `slot`;
 * NULL if there is none.
 */
const struct retrace_place *retrace_find(const struct retrace *retrace,
					 const struct heap_block *block, uint64_t slot);

/* Returns the next place on the way from a place to a root, NULL if there is none. */
static inline const struct retrace_place *retrace_next(const struct retrace *retrace,
						       const struct retrace_place *place)
{
	return place->next == RETRACE_NONE ? NULL : &retrace->places[place->next];
}

void retrace_deinit(struct retrace *retrace);

#endif
