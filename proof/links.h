/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What small blocks point to. All are read once, in the order of their addresses, so that whoever
 * follows pointers from block to block need not read each one by itself. What large ones point to,
 * and those with very many pointers, is not kept: to read these when they are met costs little for
 * what they hold.
 */
#ifndef PROOF_LINKS_H
#define PROOF_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/memory.h"

/* Of a block whose links are kept: they have so many words at most. */
#define LINKS_MOST 16

/* A link is the block that is pointed to; if it is to the interior, how far in that is follows. */
#define LINK_INSIDE (1U << 30)
#define LINK_BLOCK (LINK_INSIDE - 1)

struct link {
	uint32_t block;
	uint32_t offset; /* 0: the block's begin */
};

struct links {
	/* Of each block its only link, to a begin, or LINKS_NONE, LINKS_UNREAD, or LINKS_MANY. */
	uint32_t *first;
	uint32_t **chunks; /* of more links */
	size_t chunk_cnt;
	uint64_t read_bytes; /* of memory */
};

#define LINKS_NONE LINK_BLOCK
#define LINKS_UNREAD (LINK_INSIDE | LINK_BLOCK)
#define LINKS_MANY (1U << 31) /* and where they are */

/* In chunks, of the last link of a block. */
#define LINK_LAST (1U << 31)
#define LINKS_CHUNK_BITS 20

struct links_request {
	const struct memory *memory;
	const struct block_index *index;
	size_t worker_cnt;
	bool (*stop)(void *arg); /* NULL: never */
	void *arg;
};

/* 0, -ECANCELED: stop has said so, -ENOMEM, or why memory cannot be read any more. */
int links_init(const struct links_request *request, struct links *ret);
void links_deinit(struct links *links);

/* The links of a block that has many. */
static inline const uint32_t *links_many(const struct links *links, uint32_t first)
{
	uint32_t place = first & ~LINKS_MANY;

	return links->chunks[place >> LINKS_CHUNK_BITS] + (place & ((1U << LINKS_CHUNK_BITS) - 1));
}

/* The links of a block that was read: their number. */
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
