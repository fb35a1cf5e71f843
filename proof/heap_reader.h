/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory access for heap walkers: a large window for reading in ascending order, and a small cache
 * of pages for random access.
 */
#ifndef PROOF_HEAP_READER_H
#define PROOF_HEAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"

/* Fuzz tests define smaller sizes. */
#ifndef READER_WINDOW_BYTES
#define READER_WINDOW_BYTES (1U << 18)
#define READER_PAGES 512U
#endif
#define READER_PAGE_BYTES 4096U

struct heap_reader {
	const struct memory *memory;
	char *window;
	uint64_t window_start;
	size_t window_len;
	size_t next_len; /* bytes of the next read; grows while reads are sequential */
	char *pages;     /* direct-mapped cache of READER_PAGES pages */
	uint64_t *page_starts;
	uint64_t page_reads; /* page reads for this cache, i.e. cache misses */
};

/* Allocates the buffers. Returns 0 or -ENOMEM. Free with heap_reader_deinit(). */
int heap_reader_init(struct heap_reader *reader, const struct memory *memory);
void heap_reader_deinit(struct heap_reader *reader);

/* Moves the window to addr. Called by heap_reader_window(), with the same arguments and result. */
const void *heap_reader_move(struct heap_reader *reader, uint64_t addr, size_t len);

/*
 * Returns len bytes of memory at addr; NULL if they cannot be read. The result is valid until the
 * next call. len: at most a quarter of the window. The pointer has the alignment of addr, up to 16.
 */
static inline const void *heap_reader_window(struct heap_reader *reader, uint64_t addr, size_t len)
{
	uint64_t at = addr - reader->window_start;

	if (at < reader->window_len && len <= reader->window_len - at)
		return reader->window + at;
	return heap_reader_move(reader, addr, len);
}

/* Reads a word at a multiple of 8 through the cache of pages. False if it cannot be read. */
bool heap_reader_word(struct heap_reader *reader, uint64_t addr, uint64_t *ret);

/* Reads len bytes without caching them. False if not all can be read. */
bool heap_reader_copy(struct heap_reader *reader, uint64_t addr, void *ret, size_t len);

#endif
