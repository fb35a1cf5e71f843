/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the pages of a heap among what its chunks are used for. */
#ifndef PROOF_HEAP_PAGES_H
#define PROOF_HEAP_PAGES_H

#include "proof/chunk.h"
#include "report/rss.h"

/* A page that holds a part of a chunk. live_bytes: of chunks in use; the part is of the rest. */
typedef void heap_page_fn(void *arg, uint64_t addr, uint64_t live_bytes, enum rss_part rest);

/* Zero but for the first three is a valid beginning. */
struct heap_pages {
	uint64_t page_size;
	heap_page_fn *visit;
	void *arg;
	uint64_t page; /* whose bytes are being counted; 0 if there is none */
	uint64_t live_bytes;
};

/* Adds a chunk behind all that were added before; visits the pages that no later chunk can have. */
void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk);

/* Visits the last page. */
void heap_pages_end(struct heap_pages *pages);

#endif
