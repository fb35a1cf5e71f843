/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory as who looks at a heap wants it: a window that goes through it in ascending order in large
 * pieces, and single pages that are kept for a while. Knows nothing of heaps.
 */
#ifndef PROOF_HEAP_READER_H
#define PROOF_HEAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"

/* Fuzzing has less. */
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
	size_t next_len; /* how much is read at a time: more while what was read is used */
	char *pages;     /* READER_PAGES of them; an address has one place */
	uint64_t *page_starts;
	uint64_t page_reads; /* how often a page was read, as it was not there */
};

/* Fails only with -ENOMEM. ret is to be given to heap_reader_deinit. */
int heap_reader_init(struct heap_reader *reader, const struct memory *memory);
void heap_reader_deinit(struct heap_reader *reader);

/* Reads anew from addr on; see reader_window(). */
const void *heap_reader_move(struct heap_reader *reader, uint64_t addr, size_t len);

/*
 * len bytes at addr, at most a quarter of a window, until the next call; NULL: they cannot be read.
 * At what alignment they stand is that of the address, up to 16.
 */
static inline const void *heap_reader_window(struct heap_reader *reader, uint64_t addr, size_t len)
{
	uint64_t at = addr - reader->window_start;

	if (at < reader->window_len && len <= reader->window_len - at)
		return reader->window + at;
	return heap_reader_move(reader, addr, len);
}

/* A word at an address that is a multiple of 8, by way of the pages that are kept. */
bool heap_reader_word(struct heap_reader *reader, uint64_t addr, uint64_t *ret);

/* len bytes from addr on, not kept; false: not all of them can be read. */
bool heap_reader_copy(struct heap_reader *reader, uint64_t addr, void *ret, size_t len);

#endif
