// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts live bytes page by page. malloc_trim() returns the whole pages of a free chunk that come
 * behind its list pointers, and those of the chunk at the end of a heap.
 */
#include "proof/heap_pages.h"

#include "proof/heap_map.h"

/* A free chunk's sizes and pointers, which stay: struct malloc_chunk. */
#define FREE_HEADER 48U
#define WORD 8U

static void end_page(struct heap_pages *pages)
{
	if (pages->page)
		pages->visit(pages->arg, pages->page, pages->live_bytes, RSS_PINNED);
	pages->page = pages->live_bytes = 0;
}

static void begin_page(struct heap_pages *pages, uint64_t page)
{
	if (pages->page == page)
		return;
	end_page(pages);
	pages->page = page;
}

/* Adds a range of bytes, each page of which is live or pinned. */
static void add_bytes(struct heap_pages *pages, uint64_t start, uint64_t end, bool live)
{
	uint64_t mask = pages->page_size - 1;

	while (start < end) {
		uint64_t page = start & ~mask, next = page + pages->page_size;
		uint64_t until = end < next ? end : next;

		begin_page(pages, page);
		if (live)
			pages->live_bytes += until - start;
		start = until;
	}
}

/* Adds a free range whose whole pages have a part of their own. */
static void add_free(struct heap_pages *pages, uint64_t start, uint64_t end, enum rss_part part)
{
	uint64_t mask = pages->page_size - 1;
	uint64_t first = (start + mask) & ~mask, last = end & ~mask;

	if (first >= last) {
		add_bytes(pages, start, end, false);
		return;
	}
	add_bytes(pages, start, first, false);
	end_page(pages);
	for (uint64_t page = first; page < last; page += pages->page_size)
		pages->visit(pages->arg, page, 0, part);
	add_bytes(pages, last, end, false);
}

void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk)
{
	/* The last word of a chunk is the first of the next one. */
	uint64_t start = chunk->addr - CHUNK_HEADER, end = chunk->addr + chunk->size - WORD;
	uint64_t behind_header = start + FREE_HEADER < end ? start + FREE_HEADER : end;

	switch (chunk->state) {
	case CHUNK_USED:
		add_bytes(pages, start, end, true);
		break;
	case CHUNK_FREE:
		add_bytes(pages, start, behind_header, false);
		add_free(pages, behind_header, end, RSS_TRIMMABLE);
		break;
	case CHUNK_OWN:
		/* The allocator's structures are small: whole pages are those of a top chunk. */
		if (chunk->size < pages->page_size)
			add_bytes(pages, chunk->addr, chunk->addr + chunk->size, true);
		else
			add_free(pages, chunk->addr, chunk->addr + chunk->size, RSS_TOP);
		break;
	}
}

void heap_pages_end(struct heap_pages *pages)
{
	end_page(pages);
}
