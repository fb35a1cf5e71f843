// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the runs of chunks of the main arena by the total size of the arena, and by how runs begin
 * and end.
 */
#include "proof/main_heap.h"

#include <errno.h>
#include <string.h>

#define WORD 8U

/* An address counts as the start of a run if this number of plausible chunks follow it. */
#define TRIAL_CHUNKS 16U

/*
 * Limits of the search for starts of runs. PLACES_MAX: number of addresses to check.
 * PAGE_READS_MAX: number of page reads, which take 1 to 2 µs each. MAPPING_PAGE_READS_MAX: number
 * of page reads in one mapping that may have no run. FALSE_RUNS_MAX: number of addresses that look
 * like the start of a run but prove not to be one.
 */
#define PLACES_MAX (1ULL << 26)
#define PAGE_READS_MAX (1ULL << 18)
#define MAPPING_PAGE_READS_MAX (1ULL << 16)
#define FALSE_RUNS_MAX 64U

struct heap_search {
	struct heap_reader *reader;
	const struct heap_arena *arena;
	struct heap_set *set;
	uint64_t top_end;
	uint64_t places_left;
	uint64_t reads_max, mapping_reads_max; /* limits on the reader's page_reads counter */
	size_t false_runs_left;
};

/* Returns the end of the arena's top chunk, 0 if there is none. */
static uint64_t top_end(struct heap_reader *reader, const struct heap_arena *arena)
{
	uint64_t head;

	if (arena->top == arena->lists || !heap_reader_word(reader, arena->top + WORD, &head))
		return 0;
	head &= ~(uint64_t)CHUNK_FLAGS;
	return arena->top <= UINT64_MAX - head ? arena->top + head : 0;
}

/*
 * Adds the run of chunks that begins at `start`. If `limit` is the end of the top chunk, the run
 * must end with the top chunk at `limit`, or with fences below it. Otherwise, the run must end with
 * fences at or below `limit`.
 */
static int add_run(struct heap_search *search, uint64_t start, uint64_t limit)
{
	const struct heap_map map = {.start = start, .main = true};
	enum heap_end end = limit == search->top_end ? HEAP_END_TOP : HEAP_END_FENCES;

	return heap_set_walk(search->set, search->reader, map, end, limit);
}

/*
 * True if a run may begin at addr: addr is followed by TRIAL_CHUNKS plausible chunks, or by fewer
 * plausible chunks and a plausible end.
 */
static bool may_begin(struct heap_search *search, uint64_t addr, uint64_t limit)
{
	for (size_t i = 0; i < TRIAL_CHUNKS; i++) {
		uint64_t head, size;

		if (addr > limit - CHUNK_HEADER ||
		    !heap_reader_word(search->reader, addr + WORD, &head) ||
		    (head & (CHUNK_FLAGS & ~CHUNK_PREV_USED)) || (!i && !(head & CHUNK_PREV_USED)))
			return false;
		size = head & ~(uint64_t)CHUNK_FLAGS;
		if (addr == search->arena->top || (i && size == CHUNK_ALIGN))
			return true;
		if (size < CHUNK_MIN || size > limit - addr)
			return false;
		addr += size;
	}
	return true;
}

/*
 * Adds the first run of chunks that begins at `start` or above, below `limit`. Checks only
 * addresses that are multiples of `step`, a power of two. A run begins in fresh memory, so the word
 * before the size of its first chunk is zero. Returns -EILSEQ if no run is found.
 */
static int find_run(struct heap_search *search, uint64_t start, uint64_t limit, uint64_t step)
{
	for (uint64_t addr = (start + step - 1) & ~(step - 1);
	     addr < limit && limit - addr > CHUNK_MIN && search->places_left; addr += step) {
		uint64_t word;
		int err;

		search->places_left--;
		if (search->reader->page_reads > search->mapping_reads_max ||
		    !heap_reader_word(search->reader, addr, &word))
			return -EILSEQ;
		if (word || !may_begin(search, addr, limit))
			continue;
		err = add_run(search, addr, limit);
		if (err != -EILSEQ || !search->false_runs_left--) {
			search->false_runs_left += err == -EILSEQ;
			return err;
		}
	}
	return -EILSEQ;
}

static const struct heap_map *last_run(const struct heap_search *search)
{
	return &search->set->maps[search->set->cnt - 1];
}

/*
 * Adds all runs of chunks from `start` to the break. Where another caller of brk() has moved the
 * break, fences end a run, and the next run begins after the memory of that caller.
 */
static int walk_break(struct heap_search *search, uint64_t start)
{
	int err = add_run(search, start, search->top_end);

	while (!err && !last_run(search)->is_top)
		err = find_run(search, last_run(search)->end, search->top_end, CHUNK_ALIGN);
	return err;
}

static bool is_anonymous(const struct mapping *mapping)
{
	return mapping->readable && mapping->writable && !mapping->shared && !mapping->file.ino;
}

static bool is_break(const struct mapping *mapping)
{
	return strcmp(mapping->path, "[heap]") == 0;
}

/* Adds all runs of chunks in a mapping to the set, and their total size in bytes to *ret. */
static int walk_mapping(struct heap_search *search, const struct mapping *mapping, uint64_t *ret)
{
	uint64_t at = mapping->start, page = search->reader->memory->page_size;
	int err = 0;

	while (at < mapping->end) {
		bool before_top = at <= search->arena->top && search->arena->top < mapping->end;

		err = find_run(search, at, before_top ? search->top_end : mapping->end,
			       is_break(mapping) ? CHUNK_ALIGN : page);
		if (err)
			break;
		*ret += last_run(search)->end - last_run(search)->start;
		at = last_run(search)->end;
	}
	return err == -EILSEQ ? 0 : err;
}

static bool has_top(const struct heap_search *search, const struct mapping *mapping)
{
	return mapping->start <= search->arena->top && search->arena->top < mapping->end;
}

/*
 * Adds the runs of chunks in anonymous mappings to the set, and their sizes in bytes to *ret, until
 * *ret is the arena's size. is_certain: true to search only the mapping that brk() grows and that
 * of the top chunk, which certainly have runs; false to search only the other mappings.
 */
static int walk_mappings(struct heap_search *search, bool is_certain, uint64_t *ret)
{
	for_each_mapping (mapping, &search->reader->memory->maps) {
		uint64_t reads_max = search->reader->page_reads + MAPPING_PAGE_READS_MAX;
		int err;

		if (*ret == search->arena->system_bytes[0] ||
		    *ret == search->arena->system_bytes[1])
			return 0;
		if (!is_anonymous(mapping) ||
		    (is_break(mapping) || has_top(search, mapping)) != is_certain)
			continue;
		search->mapping_reads_max =
			is_certain || reads_max > search->reads_max ? search->reads_max : reads_max;
		err = walk_mapping(search, mapping, ret);
		if (err)
			return err;
	}
	return 0;
}

/* Searches anonymous memory until the runs add up to the arena's size. */
static int walk_scattered(struct heap_search *search)
{
	uint64_t found = 0;
	int err = walk_mappings(search, true, &found);

	return err ? err : walk_mappings(search, false, &found);
}

/*
 * Adds the runs in the memory that brk() grows. Used if the start of the first run cannot be
 * computed because the top chunk or the size of the arena changed while they were read.
 */
static int walk_changing(struct heap_search *search)
{
	uint64_t start;

	if (!heap_arena_break(search->reader->memory, search->arena, &start, &search->top_end))
		return -EILSEQ;
	return walk_break(search, start);
}

int main_heap_walk(struct heap_reader *reader, const struct heap_arena *arena, struct heap_set *set)
{
	struct heap_search search = {.reader = reader,
				     .arena = arena,
				     .set = set,
				     .top_end = top_end(reader, arena),
				     .places_left = PLACES_MAX,
				     .reads_max = reader->page_reads + PAGE_READS_MAX,
				     .mapping_reads_max = reader->page_reads + PAGE_READS_MAX,
				     .false_runs_left = FALSE_RUNS_MAX};
	int err = -EILSEQ;

	if (!search.top_end && !reader->memory->changes)
		return err;
	if (arena->scattered)
		return walk_scattered(&search);
	/*
	 * The arena has all memory between the initial break and the end of the top chunk, so the
	 * initial break, where the first run begins, follows from the size of the arena.
	 */
	for (size_t i = 0; i < 2 && err == -EILSEQ; i++) {
		uint64_t bytes = arena->system_bytes[i];

		if (bytes < search.top_end && arena->top >= search.top_end - bytes)
			err = walk_break(&search, heap_chunk_at(search.top_end - bytes));
	}
	return err == -EILSEQ && reader->memory->changes ? walk_changing(&search) : err;
}

int main_heap_add_unknown(struct heap_reader *reader, const struct heap_arena *arena,
			  struct heap_set *set)
{
	for_each_mapping (mapping, &reader->memory->maps) {
		bool has_top = mapping->start <= arena->top && arena->top < mapping->end;
		int err;

		if (!is_anonymous(mapping) || (!has_top && !is_break(mapping)))
			continue;
		err = heap_set_add_unknown(set, mapping->start, mapping->end);
		if (err)
			return err;
	}
	return 0;
}
