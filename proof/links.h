/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds links: pointers from small blocks to other blocks. All small blocks are read once, in
 * address order, so that following pointers needs no random reads. Links of large blocks and of
 * blocks with many pointers are not stored. These blocks are read when they are reached: a random
 * read costs little compared with the other work for such a block.
 */
#ifndef PROOF_LINKS_H
#define PROOF_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/memory.h"

/* Maximum number of 32-bit words for the links of one block. */
#define LINKS_MOST 16

/*
 * Bits of a link: the index of the target block, and a flag for interior pointers. After a link
 * with this flag, a further word has the offset of the pointer's target in the block.
 */
#define LINK_INSIDE (1U << 30)
#define LINK_BLOCK (LINK_INSIDE - 1)

struct link {
	uint32_t block;
	uint32_t offset; /* offset of the pointer's target in the block, 0 for the block's start */
};

struct links {
	/*
	 * For each block, one of four values. If the block has exactly one link, and this link
	 * leads to the start of a block: the link itself. LINKS_NONE: no links. LINKS_UNREAD: the
	 * block must be read. Otherwise: LINKS_MANY with the position of the block's links in
	 * `chunks`.
	 */
	uint32_t *first;
	uint32_t **chunks; /* links of blocks with LINKS_MANY */
	size_t chunk_cnt;
	uint64_t read_bytes; /* bytes of process memory read */
};

#define LINKS_NONE LINK_BLOCK
#define LINKS_UNREAD (LINK_INSIDE | LINK_BLOCK)
#define LINKS_MANY (1U << 31) /* flag in `first`; the other bits are the position in `chunks` */

/* Flag in `chunks`: set in the last link of a block. */
#define LINK_LAST (1U << 31)
#define LINKS_CHUNK_BITS 20

struct links_request {
	const struct memory *memory;
	const struct block_index *index;
	size_t worker_cnt;
	bool (*stop)(void *arg); /* returns true to cancel; NULL: never cancel */
	void *arg;
};

/*
 * Reads the links of all small blocks. Returns 0, -ECANCELED if stop() returned true, -ENOMEM, or
 * the error of a failed read.
 */
int links_init(const struct links_request *request, struct links *ret);
void links_deinit(struct links *links);

/* Returns the links of a block with the flag LINKS_MANY. first: its element of links->first. */
static inline const uint32_t *links_many(const struct links *links, uint32_t first)
{
	uint32_t place = first & ~LINKS_MANY;

	return links->chunks[place >> LINKS_CHUNK_BITS] + (place & ((1U << LINKS_CHUNK_BITS) - 1));
}

/* Copies the links of a block, which must not be LINKS_UNREAD. Returns the number of links. */
static inline size_t links_of(const struct links *links, uint32_t block,
			      struct link ret[LINKS_MOST])
{
	uint32_t word = links->first[block];
	const uint32_t *many;
	size_t cnt = 0;

	if (word == LINKS_NONE)
		return 0;
	if (!(word & LINKS_MANY)) {
		ret[0] = (struct link){.block = word};
		return 1;
	}
	many = links_many(links, word);
	do {
		word = *many++;
		ret[cnt++] = (struct link){word & LINK_BLOCK, word & LINK_INSIDE ? *many++ : 0};
	} while (!(word & LINK_LAST));
	return cnt;
}

#endif
