/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the reachability and holder of each block of a process, from a picture and the list of
 * blocks.
 */
#ifndef PROOF_HEAP_PROOF_H
#define PROOF_HEAP_PROOF_H

#include "proof/marking.h"
#include "proof/memory.h"
#include "proof/roots.h"
#include "proof/thread_state.h"
#include "report/snapshot.h"

struct heap_proof {
	/* Blocks of the heap, sorted by address. Blocks that overlapped others were dropped. */
	struct heap_block *blocks;
	uint32_t cnt;
	struct marks marks;
	/*
	 * Allocator heaps whose chunks are all known, and the allocator's own data. All memory in
	 * these ranges is free or the allocator's, except for the blocks.
	 */
	struct root_ranges heaps;
	uint64_t scanned_bytes;
	uint64_t took_ns;
	/*
	 * Census of the heap if wants_census is set. Its field `memory`, with the kernel's memory
	 * figures, is not filled in.
	 */
	struct heap_census census;
};

struct frame_finder;

struct heap_picture {
	const struct memory *memory;
	const struct thread_states *threads;
	/* pointers that the kernel keeps for the process: additional roots */
	const uint64_t *words;
	size_t word_cnt;
	bool wants_census;
	bool is_python; /* true if the program is a Python script */
	/*
	 * Returns true if memory is unchanged since the picture, so that it can still be read to
	 * find names. NULL: memory never changes.
	 */
	bool (*lasts)(void *arg);
	void *arg;
	pid_t pid; /* pid of the live process, 0 if it has ended */
	/* finds the function of a stack slot; NULL: do not look for functions */
	struct frame_finder *frames;
};

/*
 * Makes the proof of one heap. Sorts the heap's blocks, and adds to them the blocks that were
 * allocated before tracing began. The blocks must outlive ret. Returns 0, -ECANCELED if stop()
 * returned true, or another negative errno.
 */
int heap_proof_init(const struct heap_picture *picture, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct heap_proof *ret);
void heap_proof_deinit(struct heap_proof *proof);

/* Returns the number of blocks that begin at or below addr. */
uint32_t heap_proof_blocks_upto(const struct heap_proof *proof, uint64_t addr);
/* Returns the index of the block that contains addr, or NO_BLOCK. */
uint32_t heap_proof_find(const struct heap_proof *proof, uint64_t addr);
/* True if addr is in an allocator heap whose chunks are known, but not in a block. */
bool heap_proof_is_free(const struct heap_proof *proof, uint64_t addr);
/*
 * Follows the chain of holders of `block`. *ret_top: last block of the chain; *ret_slot: root slot
 * with the pointer to this last block, in the format of marks.slots; 0 if unknown. False if `block`
 * is lost, or if the chain is too long.
 */
bool heap_proof_top_of(const struct heap_proof *proof, uint32_t block, uint32_t *ret_top,
		       uint64_t *ret_slot);

#endif
