// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the starts of anonymous mappings for chunk headers. */
#include "proof/mapped_chunks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "proof/heap_map.h"

#define WORD 8U

/* Smallest and largest alignment of blocks to check, as log2. The largest is that of huge pages. */
#define ALIGN_BITS_MIN 4U
#define ALIGN_BITS_MAX 21U

int mapped_chunks_add(struct mapped_chunks *chunks, const struct mapped_chunk *chunk)
{
	if (array_reserve(&chunks->items, &chunks->cap, chunks->cnt + 1))
		return -ENOMEM;
	chunks->items[chunks->cnt++] = *chunk;
	return 0;
}

void mapped_chunks_deinit(struct mapped_chunks *chunks)
{
	free(chunks->items);
	*chunks = (struct mapped_chunks){0};
}

/*
 * Returns the size of the memory from `start` to the end of the chunk whose header is at `addr`; 0
 * if there is no such chunk. *ret: usable bytes of the chunk. In old versions of glibc, the size in
 * the header includes both words of the header. In newer versions it includes neither word, and the
 * last word of the chunk is not usable.
 */
static uint64_t mapped_size(struct heap_reader *reader, uint64_t start, uint64_t addr,
			    uint64_t *ret)
{
	uint64_t before, head, size, page_mask = reader->memory->page_size - 1;
	bool counts_header;

	if (!heap_reader_word(reader, addr, &before) || before != addr - start ||
	    !heap_reader_word(reader, addr + WORD, &head) || (head & CHUNK_FLAGS) != CHUNK_MMAPPED)
		return 0;
	size = head & ~(uint64_t)CHUNK_FLAGS;
	if (size < CHUNK_MIN || size > UINT64_MAX - before - CHUNK_HEADER)
		return 0;
	counts_header = ((before + size) & page_mask) == 0;
	if (!counts_header && ((before + size + CHUNK_HEADER) & page_mask))
		return 0;
	*ret = counts_header ? size - CHUNK_HEADER : size - WORD;
	return before + size + (counts_header ? 0 : CHUNK_HEADER);
}

/*
 * Finds the chunk whose mapped memory begins at `start`. False if there is no such chunk. An
 * aligned block has its original header at `start`, and a second header before its data. realloc()
 * updates only the second header, so the size is taken from the second header.
 */
static bool find_chunk(struct heap_reader *reader, uint64_t start, uint64_t end,
		       struct mapped_chunk *ret)
{
	uint64_t room, size = mapped_size(reader, start, start, &room), at = start;

	if (!size)
		return false;
	for (unsigned int bits = ALIGN_BITS_MIN + 1; bits <= ALIGN_BITS_MAX; bits++) {
		uint64_t mask = (1ULL << bits) - 1, aligned_room, aligned_size;
		uint64_t addr = ((start + CHUNK_HEADER + mask) & ~mask) - CHUNK_HEADER;

		if (end - start < CHUNK_MIN || addr > end - CHUNK_MIN)
			break;
		aligned_size = mapped_size(reader, start, addr, &aligned_room);
		if (!aligned_size || aligned_size > end - start)
			continue;
		at = addr;
		size = aligned_size;
		room = aligned_room;
	}
	if (size > end - start)
		return false;
	*ret = (struct mapped_chunk){
		.start = start,
		.end = start + size,
		.chunk = {.addr = at + CHUNK_HEADER, .size = room, .state = CHUNK_USED},
	};
	return true;
}

int mapped_chunks_find(struct heap_reader *reader, struct mapped_chunks *chunks)
{
	for_each_mapping (mapping, &reader->memory->maps) {
		struct mapped_chunk chunk = {.end = mapping->start};

		if (!mapping->writable || mapping->shared || mapping->file.ino || mapping->path[0])
			continue;
		while (chunk.end < mapping->end &&
		       find_chunk(reader, chunk.end, mapping->end, &chunk))
			if (mapped_chunks_add(chunks, &chunk))
				return -ENOMEM;
	}
	return 0;
}
