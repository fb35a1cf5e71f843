/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises interior pointers that stand for the start of a block: the cases of valgrind's
 * --leak-check-heuristics, and pointers with tags in their low bits.
 */
#ifndef PROOF_INTERIOR_H
#define PROOF_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/window.h"
#include "report/heap_block.h"

/* Buffers for reading memory. */
struct interior {
	struct window heads;  /* buffer for starts of blocks */
	struct window inside; /* buffer for memory at the targets of pointers */
	struct window tables; /* buffer for virtual function tables */
};

int interior_init(const struct memory *memory, struct interior *ret);
void interior_deinit(struct interior *interior);

/*
 * True if a pointer to block->addr + offset, within the block or at its end, stands for a pointer
 * to the start of the block.
 */
bool interior_is_begin(struct interior *interior, const struct heap_block *block, uint64_t offset);

/*
 * If `word` is a pointer to the elements of an empty C++ array, returns the index of the array's
 * block, else NO_BLOCK. Such a block has only the element count, so `word` is the address of the
 * block's end. next: index of the first block that ends after `word`; `word` must not be in this
 * block.
 */
uint32_t interior_empty_array(struct interior *interior, const struct block_index *index,
			      uint32_t next, uint64_t word);

#endif
