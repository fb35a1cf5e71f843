/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the bytes of each page of a heap by the state of the chunks: live, pinned, and so on. */
#ifndef PROOF_HEAP_PAGES_H
#define PROOF_HEAP_PAGES_H

#include <stddef.h>

#include "proof/chunk.h"
#include "report/rss.h"

/* Maximum number of chunks that are, in whole or in part, on a page of 64 KiB */
#define HEAP_PAGE_OWNERS_MAX 2049
/* Value for a used chunk without an owner, such as the allocator's own structures. */
#define HEAP_PAGE_NO_OWNER UINT32_MAX

struct heap_page {
	uint64_t addr;       /* address of the page; 0 if there is none */
	uint64_t live_bytes; /* number of bytes in used chunks */
	enum rss_part rest;  /* kind of all other bytes */
	/* Owners of the used chunks on the page, as passed to heap_pages_add(). */
	uint32_t owners[HEAP_PAGE_OWNERS_MAX];
	size_t owner_cnt;
};

/* Called for each page of a chunk. */
typedef void heap_page_fn(void *arg, const struct heap_page *page);

/* Set the first three fields, and initialise the page with zeros. */
struct heap_pages {
	uint64_t page_size;
	heap_page_fn *visit;
	void *arg;
	struct heap_page page; /* the page being counted */
};

/*
 * Adds a chunk, which must be above all chunks added before. Visits the pages that no later chunk
 * can touch. owner: any number that stands for the owner of a used chunk, or HEAP_PAGE_NO_OWNER.
 */
void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk, uint32_t owner);

/* Visits the last page. Call after all chunks were added. */
void heap_pages_end(struct heap_pages *pages);

#endif
