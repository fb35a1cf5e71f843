/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Result of marking, for each block. Kinds are valgrind's: reachable by pointers to starts of
 * blocks; possible if an interior pointer is needed; otherwise lost, either indirect if another
 * lost block points to it, or definite. Of lost blocks that form a cycle no other lost block points
 * to, the lowest is definite.
 */
#ifndef PROOF_MARKS_H
#define PROOF_MARKS_H

#include <stdint.h>

enum mark { MARK_DEFINITE, MARK_INDIRECT, MARK_POSSIBLE, MARK_REACHABLE, MARK_CNT };

/*
 * Flag of a holder that is a root slot. A holder is the source of the pointer by which a block was
 * first reached; for an indirect block, the definite block it hangs from.
 */
#define MARKS_SLOT (1U << 31)
/* Flag of a slot that is an index of root words instead of an address. */
#define HOLDER_IS_WORD (1ULL << 63)

struct marks {
	uint8_t *kinds; /* kind of each block, an enum mark */
	/* Holder of each block: a block, or MARKS_SLOT | index into slots. */
	uint32_t *holders;
	uint64_t *slots;        /* root addresses, or HOLDER_IS_WORD | index into roots.words */
	uint64_t scanned_bytes; /* bytes of memory read */
};

void marks_deinit(struct marks *marks);

#endif
