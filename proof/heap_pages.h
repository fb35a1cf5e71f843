/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the bytes of each page of a heap by the state of the chunks: live, pinned, and so on. */
#ifndef PROOF_HEAP_PAGES_H
#define PROOF_HEAP_PAGES_H

#include "proof/chunk.h"
#include "report/rss.h"

/*
 * Called for each page of a chunk. live_bytes: bytes of the page in used chunks; rest: the kind of
 * all other bytes of the page.
 */
typedef void heap_page_fn(void *arg, uint64_t addr, uint64_t live_bytes, enum rss_part rest);

/* Initialise the first three fields, and the others with zeros. */
struct heap_pages {
	uint64_t page_size;
	heap_page_fn *visit;
	void *arg;
	uint64_t page; /* address of the page being counted, 0 if there is none */
	uint64_t live_bytes;
};

/*
 * Adds a chunk, which must be above all chunks added before. Visits the pages that no later chunk
 * can touch.
 */
void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk);

/* Visits the last page. Call after all chunks were added. */
void heap_pages_end(struct heap_pages *pages);

#endif
