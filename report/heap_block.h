/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block of a heap as a proof wants it: small, as there are many. */
#ifndef REPORT_HEAP_BLOCK_H
#define REPORT_HEAP_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What lies behind so many bytes of a block is no part of it for a proof. */
#define HEAP_BLOCK_BYTES_MAX UINT32_MAX

/*
 * In site: nothing is said of the block, as it is younger than what the report is about, or may be
 * younger than the picture. What it points to is in use as long as it is.
 */
#define HEAP_BLOCK_UNJUDGED (1U << 31)
/* The site of some that are not judged. */
#define HEAP_BLOCK_NO_SITE (HEAP_BLOCK_UNJUDGED - 1)

struct heap_block {
	uint64_t addr;
	uint32_t size; /* bytes */
	uint32_t site; /* index into the snapshot's sites; perhaps with HEAP_BLOCK_UNJUDGED */
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
