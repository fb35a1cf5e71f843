// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks the chunks of a heap from header to header. Rejects the whole heap if any chunk is
 * inconsistent, unless memory changes during the walk.
 */
#include "proof/heap_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/hash.h"
#include "proof/thread_cache.h"

#define WORD_BITS 64U

/* Maximum size of a heap, in bytes; the bitmaps of such a heap would take 16 GiB. */
#define HEAP_BYTES_MAX (1ULL << 40)

/*
 * Maximum number of adjacent fence chunks. There are more than two if the program break is moved
 * again while the top chunk is hardly larger than a header.
 */
#define FENCES_MAX 3U

/*
 * Number of consistent chunks that a walk from an uncertain address must have seen before it
 * tolerates an inconsistent chunk (only if memory changes while it is read). The walk resumes where
 * this number of plausible chunks begins.
 */
#define TRIAL_CHUNKS 16U

uint64_t heap_link_hash(uint64_t from, uint64_t to)
{
	return hash_word(hash_word(0, from), to);
}

static size_t bit_words(const struct heap_map *map, uint64_t end)
{
	return (size_t)((end - map->start) / CHUNK_ALIGN / WORD_BITS + 1);
}

static size_t bit_of(const struct heap_map *map, uint64_t addr)
{
	return (size_t)((addr - map->start) / CHUNK_ALIGN);
}

static bool bit_is_set(const uint64_t *bits, size_t bit)
{
	return bits[bit / WORD_BITS] >> (bit % WORD_BITS) & 1;
}

void heap_map_mark(struct heap_map *map, uint64_t addr, bool is_free)
{
	size_t bit = bit_of(map, addr);
	uint64_t mask = 1ULL << (bit % WORD_BITS);

	if (is_free)
		map->free_marks[bit / WORD_BITS] |= mask;
	else
		map->free_marks[bit / WORD_BITS] &= ~mask;
}

bool heap_map_is_free(const struct heap_map *map, uint64_t addr)
{
	return bit_is_set(map->free_marks, bit_of(map, addr));
}

uint64_t heap_map_next(const struct heap_map *map, uint64_t addr)
{
	size_t bit, word, last = bit_words(map, map->tail) - 1;
	uint64_t bits;

	if (addr <= map->start)
		return map->start;
	if (addr >= map->tail)
		return map->tail;
	bit = bit_of(map, addr + CHUNK_ALIGN - 1);
	word = bit / WORD_BITS;
	bits = map->starts[word] & (~0ULL << (bit % WORD_BITS));
	while (!bits) {
		if (word == last)
			return map->tail;
		bits = map->starts[++word];
	}
	return map->start + (word * WORD_BITS + (size_t)__builtin_ctzll(bits)) * CHUNK_ALIGN;
}

uint64_t heap_map_size(const struct heap_map *map, uint64_t addr)
{
	if (addr < map->start || addr >= map->tail || (addr - map->start) % CHUNK_ALIGN ||
	    !bit_is_set(map->starts, bit_of(map, addr)))
		return 0;
	return heap_map_next(map, addr + 1) - addr;
}

bool heap_map_is_gap(const struct heap_map *map, uint64_t addr)
{
	size_t upto = bisect_numbers(map->gaps, map->gap_cnt, addr + 1);

	return upto && addr < heap_map_next(map, map->gaps[upto - 1] + 1);
}

/* The chunk that was read last. The header of the chunk after it says whether it is free. */
struct heap_walk {
	uint64_t addr, size;
	uint64_t next, prev; /* next and previous pointer in a free list, if the chunk is free */
	bool free_before;    /* true if the chunk before this one is free */
	bool is_cache;       /* true if the chunk looks like a thread cache */
};

/*
 * True if the walk may continue after an inconsistent chunk: memory changes while it is read, and
 * enough consistent chunks came before to show that the walk began at a chunk. One is enough in a
 * heap with a heap_info, which says where chunks begin; otherwise, TRIAL_CHUNKS are needed.
 */
static bool may_be_torn(const struct heap_map *map, const struct heap_reader *reader)
{
	return reader->memory->changes && map->chunk_cnt >= (map->info ? 1 : TRIAL_CHUNKS);
}

/*
 * Records that the chunk `last` is free, if the header of the chunk after it says so. Otherwise,
 * records `last` if it looks like a thread cache. Returns 0, -ENOMEM, or -EILSEQ if the two chunks
 * do not fit together.
 */
static int end_chunk(struct heap_map *map, const struct heap_reader *reader,
		     const struct heap_walk *last, const uint64_t *header)
{
	if (header[1] & CHUNK_PREV_USED) {
		if (!last->is_cache)
			return 0;
		if (array_reserve(&map->caches, &map->cache_cap, map->cache_cnt + 1))
			return -ENOMEM;
		map->caches[map->cache_cnt++] = last->addr;
		return 0;
	}
	/* glibc merges adjacent free chunks, so two adjacent free chunks are an error. */
	if (!last->size || last->free_before || header[0] != last->size) {
		map->torn = true;
		return may_be_torn(map, reader) ? 0 : -EILSEQ;
	}
	heap_map_mark(map, last->addr, true);
	map->forward_sum += heap_link_hash(last->addr, last->next);
	map->backward_sum += heap_link_hash(last->prev, last->addr);
	return 0;
}

/* Returns the end of the fence chunks at addr, 0 if there are fewer than two. */
static uint64_t fences_end(struct heap_reader *reader, uint64_t addr, uint64_t limit)
{
	size_t cnt = 0;

	for (uint64_t at = addr; cnt < FENCES_MAX && at <= limit - CHUNK_HEADER;
	     at += CHUNK_ALIGN) {
		const uint64_t *header = heap_reader_window(reader, at, CHUNK_HEADER);

		if (!header || (header[1] & ~(uint64_t)CHUNK_PREV_USED) != CHUNK_ALIGN)
			break;
		cnt++;
	}
	return cnt >= 2 ? addr + cnt * CHUNK_ALIGN : 0;
}

/*
 * True if the chunk reaches or crosses the limit because it is a top chunk that has grown since the
 * limit was read. head: size and flags of the chunk. A top chunk has only the flag CHUNK_PREV_USED.
 */
static bool has_grown(const struct heap_reader *reader, uint64_t addr, uint64_t head,
		      uint64_t limit)
{
	uint64_t size = head & ~(uint64_t)CHUNK_FLAGS;

	return reader->memory->changes && (head & CHUNK_FLAGS) == CHUNK_PREV_USED &&
	       size >= limit - addr && (addr + size) % reader->memory->page_size == 0;
}

/* True if the run ends at addr. header: header of the chunk at addr. */
static bool is_end(struct heap_map *map, struct heap_reader *reader, enum heap_end end,
		   uint64_t addr, uint64_t limit, const uint64_t *header)
{
	uint64_t size = header[1] & ~(uint64_t)CHUNK_FLAGS;
	/*
	 * Since its top chunk was read, the arena may have got a newer heap or lost its newest one.
	 * So this heap may end in another way than `end` says.
	 */
	bool is_unsure = reader->memory->changes && map->info, is_cut = end == HEAP_END_CUT;
	bool has_mark = end == HEAP_END_MARK || (is_unsure && !is_cut);

	map->end = limit;
	if ((end == HEAP_END_TOP || is_unsure) && size >= CHUNK_ALIGN &&
	    ((addr + size == limit && !is_cut) || has_grown(reader, addr, header[1], limit))) {
		map->is_top = true;
		return true;
	}
	if (has_mark && addr == limit - CHUNK_HEADER)
		return size == 0;
	/* The heap ends with two end marks, of which this is the first. */
	if (has_mark && addr == limit - 2 * CHUNK_HEADER)
		return size == CHUNK_ALIGN;
	if (!map->main || size != CHUNK_ALIGN)
		return false;
	map->end = fences_end(reader, addr, limit);
	return map->end != 0;
}

/* True if the size and flags of a header are plausible. */
static bool is_sound(const struct heap_map *map, uint64_t addr, uint64_t head, uint64_t limit)
{
	uint64_t size = head & ~(uint64_t)CHUNK_FLAGS;

	return !(head & (8 | CHUNK_MMAPPED)) && !(map->main && (head & CHUNK_OTHER_ARENA)) &&
	       size >= CHUNK_MIN && size <= limit - addr - CHUNK_HEADER;
}

/*
 * True if TRIAL_CHUNKS plausible chunks begin at addr, or fewer plausible chunks up to the limit.
 */
static bool goes_on(const struct heap_map *map, struct heap_reader *reader, uint64_t addr,
		    uint64_t limit)
{
	for (size_t i = 0; i < TRIAL_CHUNKS && addr <= limit - CHUNK_HEADER; i++) {
		const uint64_t *header = heap_reader_window(reader, addr, CHUNK_HEADER);

		if (!header)
			return false;
		if (addr + (header[1] & ~(uint64_t)CHUNK_FLAGS) == limit)
			return true;
		if (!is_sound(map, addr, header[1], limit))
			return false;
		addr += header[1] & ~(uint64_t)CHUNK_FLAGS;
	}
	return true;
}

/*
 * True if the chunk at addr reaches or crosses the limit, and the heap may continue in unreadable
 * memory beyond the limit (HEAP_END_CUT). head: size and flags of the chunk.
 */
static bool is_cut(enum heap_end end, uint64_t addr, uint64_t head, uint64_t limit)
{
	return end == HEAP_END_CUT && !(head & (8 | CHUNK_MMAPPED)) && head < HEAP_BYTES_MAX &&
	       (head & ~(uint64_t)CHUNK_FLAGS) >= limit - addr;
}

static void add_start(struct heap_map *map, uint64_t addr)
{
	size_t bit = bit_of(map, addr);

	map->starts[bit / WORD_BITS] |= 1ULL << (bit % WORD_BITS);
	map->chunk_cnt++;
}

static int add_gap(struct heap_map *map, uint64_t addr)
{
	map->torn = true;
	add_start(map, addr);
	if (array_reserve(&map->gaps, &map->gap_cap, map->gap_cnt + 1))
		return -ENOMEM;
	map->gaps[map->gap_cnt++] = addr;
	return 0;
}

/*
 * Returns the next address where plausible chunks begin; the limit if there is none, so that the
 * gap ends the run.
 */
static uint64_t gap_end(const struct heap_map *map, struct heap_reader *reader, uint64_t addr,
			uint64_t limit)
{
	do
		addr += CHUNK_ALIGN;
	while (addr <= limit - CHUNK_HEADER && !goes_on(map, reader, addr, limit));
	return addr <= limit - CHUNK_HEADER ? addr : limit;
}

static bool looks_like_cache(struct heap_reader *reader, uint64_t addr, uint64_t size)
{
	struct thread_cache cache;

	return thread_cache_has_size(size) && thread_cache_read(reader, addr, size, &cache);
}

static int walk_chunks(struct heap_map *map, struct heap_reader *reader, enum heap_end end,
		       uint64_t limit)
{
	struct heap_walk last = {0};

	for (uint64_t addr = map->start; addr <= limit - CHUNK_HEADER;) {
		const uint64_t *header = heap_reader_window(reader, addr, CHUNK_HEADER);
		uint64_t head, size;
		int err;

		if (!header)
			return -EILSEQ;
		head = header[1];
		size = head & ~(uint64_t)CHUNK_FLAGS;
		err = end_chunk(map, reader, &last, header);
		if (err)
			return err;
		if (is_end(map, reader, end, addr, limit, header)) {
			map->tail = addr;
			return 0;
		}
		if (!is_sound(map, addr, head, limit)) {
			bool cut = is_cut(end, addr, head, limit);

			if (!cut && !may_be_torn(map, reader))
				return -EILSEQ;
			if (add_gap(map, addr))
				return -ENOMEM;
			addr = cut ? limit : gap_end(map, reader, addr, limit);
			last = (struct heap_walk){0};
			continue;
		}
		header = heap_reader_window(reader, addr, CHUNK_MIN);
		if (!header)
			return -EILSEQ;
		add_start(map, addr);
		last = (struct heap_walk){.addr = addr,
					  .size = size,
					  .next = header[2],
					  .prev = header[3],
					  .free_before = !(head & CHUNK_PREV_USED),
					  .is_cache = looks_like_cache(reader, addr, size)};
		addr += size;
	}
	map->is_top = end == HEAP_END_TOP;
	map->tail = map->end = limit;
	return map->torn ? 0 : -EILSEQ;
}

/* Frees the part of a bitmap that is beyond the end of the run. */
static void shrink(struct heap_map *map, uint64_t **bits)
{
	uint64_t *smaller = realloc(*bits, bit_words(map, map->tail) * sizeof(**bits));

	if (smaller)
		*bits = smaller;
}

int heap_map_walk(struct heap_map *map, struct heap_reader *reader, enum heap_end end,
		  uint64_t limit)
{
	int err;

	if (map->start % CHUNK_ALIGN || map->start >= limit || limit % CHUNK_ALIGN ||
	    limit - map->start < CHUNK_HEADER || limit - map->start > HEAP_BYTES_MAX)
		return -EILSEQ;
	map->starts = calloc(bit_words(map, limit), sizeof(*map->starts));
	map->free_marks = calloc(bit_words(map, limit), sizeof(*map->free_marks));
	if (!map->starts || !map->free_marks)
		return -ENOMEM;
	err = walk_chunks(map, reader, end, limit);
	if (err)
		return err;
	shrink(map, &map->starts);
	shrink(map, &map->free_marks);
	return 0;
}

void heap_map_deinit(struct heap_map *map)
{
	free(map->starts);
	free(map->free_marks);
	free(map->caches);
	free(map->gaps);
	*map = (struct heap_map){0};
}
