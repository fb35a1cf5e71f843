/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A heap block in the form that proofs use. The form is small because there are many blocks. */
#ifndef REPORT_HEAP_BLOCK_H
#define REPORT_HEAP_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of bytes, from the start of a block, that a proof searches for pointers. */
#define HEAP_BLOCK_BYTES_MAX UINT32_MAX

/*
 * Flag in `site`: the block is unjudged. The proof gives it no verdict, because it is too young for
 * the report or may be younger than the picture of the memory. An unjudged block, and all blocks
 * that it points to, count as reachable.
 */
#define HEAP_BLOCK_UNJUDGED (1U << 31)
/* Value of `site` for an unjudged block that has no site. */
#define HEAP_BLOCK_NO_SITE (HEAP_BLOCK_UNJUDGED - 1)

struct heap_block {
	uint64_t addr;
	uint32_t size; /* size in bytes, at most HEAP_BLOCK_BYTES_MAX */
	uint32_t site; /* index into the snapshot's sites; may have the flag HEAP_BLOCK_UNJUDGED */
};

static inline uint32_t heap_block_site(const struct heap_block *block)
{
	return block->site & ~HEAP_BLOCK_UNJUDGED;
}

static inline bool heap_block_is_judged(const struct heap_block *block)
{
	return !(block->site & HEAP_BLOCK_UNJUDGED);
}

#endif
