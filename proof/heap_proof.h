/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proof of one heap: from a picture and the blocks to a kind and a holder of each block. */
#ifndef PROOF_HEAP_PROOF_H
#define PROOF_HEAP_PROOF_H

#include "proof/marking.h"
#include "proof/memory.h"
#include "proof/roots.h"
#include "proof/thread_state.h"
#include "report/snapshot.h"

struct heap_proof {
	struct heap_block *blocks; /* the heap's, by address; some may be left out */
	uint32_t cnt;
	struct marks marks;
	struct root_ranges heaps; /* what was read of allocators' own heaps: the rest is free */
	uint64_t scanned_bytes;
	uint64_t took_ns;
	struct heap_census census; /* if it was wanted; but what the kernel says of memory */
};

struct frame_finder;

struct heap_picture {
	const struct memory *memory;
	const struct thread_states *threads;
	const uint64_t *words; /* more roots: what the kernel keeps */
	size_t word_cnt;
	bool wants_census;
	bool is_python; /* the program is a script of that language */
	/*
	 * Whether memory is still as it was, and may be looked at for what only gives names; NULL:
	 * it is, and may.
	 */
	bool (*lasts)(void *arg);
	void *arg;
	pid_t pid;                   /* of the process; 0: there is none any more */
	struct frame_finder *frames; /* NULL: nobody tells whose frames there are on its stacks */
};

/*
 * heap's blocks are put in order, and stay its own. 0, -ECANCELED: stop has said so, or another
 * negative errno.
 */
int heap_proof_init(const struct heap_picture *picture, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct heap_proof *ret);
void heap_proof_deinit(struct heap_proof *proof);

/* How many blocks begin at addr or below. */
uint32_t heap_proof_blocks_upto(const struct heap_proof *proof, uint64_t addr);
/* The block that holds addr, or NO_BLOCK. */
uint32_t heap_proof_find(const struct heap_proof *proof, uint64_t addr);
/* Whether addr is in an allocator's heap, but in none of its blocks. */
bool heap_proof_is_free(const struct heap_proof *proof, uint64_t addr);
/*
 * By the chain of first holders from a block on, the block at its end, and by which slot that is
 * held, as struct marks has it; 0: that is not known. False: the block is lost.
 */
bool heap_proof_top_of(const struct heap_proof *proof, uint32_t block, uint32_t *ret_top,
		       uint64_t *ret_slot);

#endif
