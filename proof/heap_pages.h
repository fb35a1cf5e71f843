/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the live bytes of each page of a heap, and classifies its other bytes (as pinned,
 * trimmable and so on) by the state of the chunks on the page.
 */
#ifndef PROOF_HEAP_PAGES_H
#define PROOF_HEAP_PAGES_H

#include <stddef.h>

#include "proof/chunk.h"
#include "report/rss.h"

/* Maximum number of chunks that are, in whole or in part, on a page of 64 KiB */
#define HEAP_PAGE_OWNERS_MAX 2049
/* Owner value of used chunks without an owner, such as the allocator's own structures. */
#define HEAP_PAGE_NO_OWNER UINT32_MAX

struct heap_page {
	uint64_t addr;       /* address of the page; 0 if no page is being counted */
	uint64_t live_bytes; /* number of bytes in used chunks */
	/* kind under which bytes that are not live are counted */
	enum rss_part rest;
	/* Owners of the used chunks on the page, as passed to heap_pages_add(). */
	uint32_t owners[HEAP_PAGE_OWNERS_MAX];
	size_t owner_cnt;
};

/* Receives a page of the heap once all its chunks were counted. */
typedef void heap_page_fn(void *arg, const struct heap_page *page);

/* Set all fields but `page`, which must be initialised with zeros. */
struct heap_pages {
	uint64_t page_size;
	heap_page_fn *visit;
	void *arg;
	struct heap_page page; /* the page being counted */
};

/*
 * Adds a chunk, which must be above all chunks added before. Visits the pages that no later chunk
 * can touch. owner: a number for the owner of a used chunk; HEAP_PAGE_NO_OWNER if it has none.
 */
void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk, uint32_t owner);

/* Visits the last page. Call after all chunks were added. */
void heap_pages_end(struct heap_pages *pages);

#endif
