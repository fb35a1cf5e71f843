// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts live bytes page by page. malloc_trim() can return a whole page to the kernel if it is
 * inside a free chunk, after the chunk's list pointers, or inside the top chunk at the end of a
 * heap.
 */
#include "proof/heap_pages.h"

#include "proof/heap_map.h"

/*
 * Size of glibc's struct malloc_chunk: the size fields and list pointers of a free chunk.
 * malloc_trim() does not return these bytes to the kernel.
 */
#define FREE_HEADER 48U
#define WORD 8U

static void end_page(struct heap_pages *pages)
{
	struct heap_page *page = &pages->page;

	page->rest = RSS_PINNED;
	if (page->addr)
		pages->visit(pages->arg, page);
	page->addr = page->live_bytes = 0;
	page->owner_cnt = 0;
}

static void begin_page(struct heap_pages *pages, uint64_t addr)
{
	if (pages->page.addr == addr)
		return;
	end_page(pages);
	pages->page.addr = addr;
}

static void add_live(struct heap_page *page, uint64_t bytes, uint32_t owner)
{
	page->live_bytes += bytes;
	if (owner != HEAP_PAGE_NO_OWNER && page->owner_cnt < HEAP_PAGE_OWNERS_MAX)
		page->owners[page->owner_cnt++] = owner;
}

/*
 * Adds a range of bytes, all live or all free, to its pages. The free bytes of these pages are
 * counted as pinned: malloc_trim() cannot return the pages to the kernel.
 */
static void add_bytes(struct heap_pages *pages, uint64_t start, uint64_t end, bool live,
		      uint32_t owner)
{
	uint64_t mask = pages->page_size - 1;

	while (start < end) {
		uint64_t page = start & ~mask, next = page + pages->page_size;
		uint64_t until = end < next ? end : next;

		begin_page(pages, page);
		if (live)
			add_live(&pages->page, until - start, owner);
		start = until;
	}
}

/* Adds bytes that are not live. Whole pages in this range are counted under `part`. */
static void add_free(struct heap_pages *pages, uint64_t start, uint64_t end, enum rss_part part)
{
	uint64_t mask = pages->page_size - 1;
	uint64_t first = (start + mask) & ~mask, last = end & ~mask;

	if (first >= last) {
		add_bytes(pages, start, end, false, HEAP_PAGE_NO_OWNER);
		return;
	}
	add_bytes(pages, start, first, false, HEAP_PAGE_NO_OWNER);
	end_page(pages);
	pages->page.rest = part;
	for (pages->page.addr = first; pages->page.addr < last;
	     pages->page.addr += pages->page_size)
		pages->visit(pages->arg, &pages->page);
	pages->page.addr = 0;
	add_bytes(pages, last, end, false, HEAP_PAGE_NO_OWNER);
}

void heap_pages_add(struct heap_pages *pages, const struct chunk *chunk, uint32_t owner)
{
	/*
	 * The last word of a chunk's data is the first word of the next chunk, and is counted with
	 * that chunk.
	 */
	uint64_t start = chunk->addr - CHUNK_HEADER, end = chunk->addr + chunk->size - WORD;
	uint64_t behind_header = start + FREE_HEADER < end ? start + FREE_HEADER : end;

	switch (chunk->state) {
	case CHUNK_USED:
		add_bytes(pages, start, end, true, owner);
		break;
	case CHUNK_FREE:
		add_bytes(pages, start, behind_header, false, HEAP_PAGE_NO_OWNER);
		add_free(pages, behind_header, end, RSS_TRIMMABLE);
		break;
	case CHUNK_OWN:
		/* All CHUNK_OWN chunks except top chunks are smaller than a page. */
		if (chunk->size < pages->page_size)
			add_bytes(pages, chunk->addr, chunk->addr + chunk->size, true,
				  HEAP_PAGE_NO_OWNER);
		else
			add_free(pages, chunk->addr, chunk->addr + chunk->size, RSS_TOP);
		break;
	case CHUNK_UNREAD:
		add_free(pages, chunk->addr, chunk->addr + chunk->size, RSS_UNREAD);
		break;
	}
}

void heap_pages_end(struct heap_pages *pages)
{
	end_page(pages);
}
