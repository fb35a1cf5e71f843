// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads large pieces of memory for sequential access, and single pages for random access. */
#include "proof/heap_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Size of the first read at a new address: one page, because often no more is needed. */
#define FIRST_LEN 4096U

/* Marks an empty entry of page_starts. */
#define NO_PAGE UINT64_MAX

int heap_reader_init(struct heap_reader *reader, const struct memory *memory)
{
	*reader = (struct heap_reader){.memory = memory, .next_len = FIRST_LEN};
	/*
	 * The kernel copies two to three times as fast if source and destination are page-aligned.
	 */
	reader->window = aligned_alloc(READER_PAGE_BYTES, READER_WINDOW_BYTES);
	reader->pages = aligned_alloc(READER_PAGE_BYTES, (size_t)READER_PAGES * READER_PAGE_BYTES);
	reader->page_starts = malloc(READER_PAGES * sizeof(*reader->page_starts));
	if (!reader->window || !reader->pages || !reader->page_starts) {
		heap_reader_deinit(reader);
		return -ENOMEM;
	}
	for (size_t i = 0; i < READER_PAGES; i++)
		reader->page_starts[i] = NO_PAGE;
	return 0;
}

void heap_reader_deinit(struct heap_reader *reader)
{
	free(reader->window);
	free(reader->pages);
	free(reader->page_starts);
	*reader = (struct heap_reader){0};
}

/* Reads as many of the len bytes as can be read. Returns the number of bytes read. */
static size_t read_some(struct heap_reader *reader, uint64_t addr, void *buf, size_t len)
{
	const struct memory *memory = reader->memory;
	size_t done = 0;

	while (done < len && addr <= UINT64_MAX - len) {
		ssize_t got =
			memory->ops->read(memory, addr + done, (char *)buf + done, len - done);

		if (got <= 0 || (size_t)got > len - done)
			break;
		done += (size_t)got;
	}
	return done;
}

static const void *at_in_window(const struct heap_reader *reader, uint64_t addr, size_t len)
{
	uint64_t at = addr - reader->window_start;

	return at + len <= reader->window_len ? reader->window + at : NULL;
}

const void *heap_reader_move(struct heap_reader *reader, uint64_t addr, size_t len)
{
	uint64_t end = reader->window_start + reader->window_len;
	bool goes_on =
		reader->window_len && addr >= reader->window_start && addr <= end + FIRST_LEN;
	const void *found;

	if (!goes_on)
		reader->next_len = FIRST_LEN;
	else if (reader->next_len < READER_WINDOW_BYTES)
		reader->next_len *= 4;
	reader->window_start = addr & ~(uint64_t)(READER_PAGE_BYTES - 1);
	while (reader->next_len < addr - reader->window_start + len &&
	       reader->next_len < READER_WINDOW_BYTES)
		reader->next_len *= 4;
	reader->window_len =
		read_some(reader, reader->window_start, reader->window, reader->next_len);
	found = at_in_window(reader, addr, len);
	if (found)
		return found;
	/* Near the ends of a mapping, a long read may fail where a short read succeeds. */
	reader->window_start = addr & ~15ULL;
	reader->window_len = read_some(reader, reader->window_start, reader->window,
				       addr - reader->window_start + len);
	return at_in_window(reader, addr, len);
}

bool heap_reader_word(struct heap_reader *reader, uint64_t addr, uint64_t *ret)
{
	uint64_t start = addr & ~(uint64_t)(READER_PAGE_BYTES - 1);
	size_t slot = (start / READER_PAGE_BYTES) % READER_PAGES;
	char *page = reader->pages + slot * READER_PAGE_BYTES;

	if (addr % sizeof(*ret))
		return false;
	if (reader->page_starts[slot] != start) {
		reader->page_starts[slot] = NO_PAGE;
		reader->page_reads++;
		if (read_some(reader, start, page, READER_PAGE_BYTES) != READER_PAGE_BYTES)
			return false;
		reader->page_starts[slot] = start;
	}
	memcpy(ret, page + (addr - start), sizeof(*ret));
	return true;
}

bool heap_reader_copy(struct heap_reader *reader, uint64_t addr, void *ret, size_t len)
{
	return read_some(reader, addr, ret, len) == len;
}
