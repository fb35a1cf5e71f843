/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What marking finds of each block. The kinds are valgrind's: a block is reachable by pointers to
 * begins of blocks, possible if interior pointers are needed to reach it; of the rest, indirect if
 * another lost block points to it, else definite. Of lost blocks that point to each other in a
 * circle, and to which no other does, the lowest is definite.
 */
#ifndef PROOF_MARKS_H
#define PROOF_MARKS_H

#include <stdint.h>

enum mark { MARK_DEFINITE, MARK_INDIRECT, MARK_POSSIBLE, MARK_REACHABLE, MARK_CNT };

/*
 * By which pointer a block was reached first: the block that has it, or a slot, of which it is
 * known where it stands. Of an indirect block: the definite block that it hangs from.
 */
#define MARKS_SLOT (1U << 31)
/* In a slot, instead of an address: the number of root words. */
#define HOLDER_IS_WORD (1ULL << 63)

struct marks {
	uint8_t *kinds;         /* enum mark, for each block */
	uint32_t *holders;      /* the same: a block, or MARKS_SLOT | index into slots */
	uint64_t *slots;        /* addresses of roots, or HOLDER_IS_WORD | index into roots.words */
	uint64_t scanned_bytes; /* what was read of memory */
};

void marks_deinit(struct marks *marks);

#endif
