/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers to the interior of a block that stand for its begin. The situations are those that
 * valgrind's manual describes under --leak-check-heuristics, and tags in the low bits of pointers.
 */
#ifndef PROOF_INTERIOR_H
#define PROOF_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/window.h"
#include "report/heap_block.h"

/* What it reads with. */
struct interior {
	struct window heads;  /* begins of blocks */
	struct window inside; /* what pointers point to */
	struct window tables; /* of virtual functions */
};

int interior_init(const struct memory *memory, struct interior *ret);
void interior_deinit(struct interior *interior);

/* Whether a pointer to block->addr + offset, within the block or its end, stands for its begin. */
bool interior_is_begin(struct interior *interior, const struct heap_block *block, uint64_t offset);

/*
 * The block of the array without elements for which word stands: all that is in it is their count,
 * so the pointer to the first one is to the block's end. next: the first block that ends behind
 * word, and that does not hold it. NO_BLOCK: there is none.
 */
uint32_t interior_empty_array(struct interior *interior, const struct block_index *index,
			      uint32_t next, uint64_t word);

#endif
