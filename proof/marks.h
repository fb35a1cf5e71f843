/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Result of marking: the kind and the holder of each block. The kinds are those of valgrind.
 * Reachable: the block can be reached from a root by pointers to starts of blocks alone. Possible:
 * the block can be reached from a root, but only by way of an interior pointer. All other blocks
 * are lost: indirect if the block hangs from another lost block, else definite. In a cycle of lost
 * blocks to which no other lost block points, the block with the lowest address is definite.
 */
#ifndef PROOF_MARKS_H
#define PROOF_MARKS_H

#include <stdint.h>

enum mark { MARK_DEFINITE, MARK_INDIRECT, MARK_POSSIBLE, MARK_REACHABLE, MARK_CNT };

/*
 * Flag in the holder of a block: the holder is a root slot, not a block. The holder of a reachable
 * or possible block contains the pointer by which the block was first reached. The holder of an
 * indirect block is the definite block from which it hangs. A definite block is its own holder.
 */
#define MARKS_SLOT (1U << 31)
/*
 * Flag in a root slot: the slot is not an address, but an index into roots.words (marking.h), i.e.
 * the registers of a thread or the pointers that the kernel keeps.
 */
#define HOLDER_IS_WORD (1ULL << 63)

struct marks {
	uint8_t *kinds; /* kind of each block, an enum mark */
	/*
	 * Holder of each block: index of a block; with the flag MARKS_SLOT, an index into `slots`;
	 * or NO_BLOCK if there is none.
	 */
	uint32_t *holders;
	/*
	 * root slots: addresses of pointers in roots; with the flag HOLDER_IS_WORD, indexes into
	 * roots.words
	 */
	uint64_t *slots;
	uint64_t scanned_bytes; /* bytes of memory read */
};

void marks_deinit(struct marks *marks);

#endif
