/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Map of the chunks in one contiguous run of glibc's heap. For each 16 bytes, one bit marks the
 * start of a chunk, and another bit the start of a free chunk. Reads chunk headers only, neither
 * arenas nor free lists.
 *
 * The address of a chunk is that of its header, as in glibc. The first word of the header belongs
 * to the previous chunk: the size of that chunk if it is free, else the last word of its data. The
 * second word is the chunk's own size with three flags. The address that malloc() returned comes
 * next.
 */
#ifndef PROOF_HEAP_MAP_H
#define PROOF_HEAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"

#define CHUNK_ALIGN 16U
#define CHUNK_HEADER 16U /* distance from a chunk to the address that malloc() returned */
#define CHUNK_MIN 32U

#define CHUNK_PREV_USED 1U
#define CHUNK_MMAPPED 2U
#define CHUNK_OTHER_ARENA 4U
#define CHUNK_FLAGS 15U

/* How a run of chunks ends. */
enum heap_end {
	HEAP_END_TOP, /* the top chunk, from which new chunks are cut */
	/* header with size 0, at the end of each heap of an arena except the newest heap */
	HEAP_END_MARK,
	/*
	 * Fence chunks, of 16 bytes each, which glibc writes after another caller of brk() has
	 * moved the break.
	 */
	HEAP_END_FENCES,
	/*
	 * None of these: the heap has grown since the mappings were listed, and the limit is the
	 * end of the memory that was readable then. The last chunk may continue beyond the limit.
	 */
	HEAP_END_CUT,
};

struct heap_map {
	uint64_t start; /* address of the first chunk */
	uint64_t tail;  /* address of the header that ends the run; 0 if the end was not reached */
	uint64_t end;   /* end address of the chunk at tail, exclusive */
	/*
	 * Address of the heap_info, 0 if there is none. The memory from info to start contains the
	 * heap_info, and the malloc_state if this is the first heap of an arena.
	 */
	uint64_t info;
	bool main;
	bool is_top; /* true if the chunk at tail is the top chunk of the arena */
	/* True if memory changed during the walk, so that chunks did not fit together. */
	bool torn;
	size_t chunk_cnt;
	uint64_t *starts;     /* bitmap: set where a chunk begins */
	uint64_t *free_marks; /* bitmap: set where a free chunk begins */
	/*
	 * Sums of the hashes of links between neighbours in free lists. forward_sum is computed
	 * from the next pointers of this run's free chunks, backward_sum from their previous
	 * pointers. Added up over all runs and list heads of an arena, both sums are equal if the
	 * arena's lists are consistent and contain exactly the chunks whose headers say that they
	 * are free.
	 */
	uint64_t forward_sum, backward_sum;
	/* Addresses of used chunks that look like thread caches, ascending. */
	uint64_t *caches;
	size_t cache_cnt, cache_cap;
	/*
	 * Start addresses of gaps, ascending. A gap is memory between consistent chunks in which
	 * the walk found no chunks that fit together. All functions but heap_map_is_gap() treat a
	 * gap as a used chunk.
	 */
	uint64_t *gaps;
	size_t gap_cnt, gap_cap;
};

/* Returns the first address at addr or above that is aligned like a chunk. */
static inline uint64_t heap_chunk_at(uint64_t addr)
{
	return (addr + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
}

/* Returns the start of the run, including the allocator's structures before the first chunk. */
static inline uint64_t heap_map_begin(const struct heap_map *map)
{
	return map->info ? map->info : map->start;
}

/*
 * Returns the hash of one link of a free list, which leads from the chunk `from` to the chunk `to`.
 */
uint64_t heap_link_hash(uint64_t from, uint64_t to);

/*
 * Walks the chunks from map->start to the end of the run. limit: address where the run should end;
 * end: how it should end there. In the main heap, fences may end the run before limit. If memory
 * changes, a heap with a heap_info may end with a top chunk or a mark, whatever `end` says.
 * Initialise start, info and main of map, and all other fields with zeros. Call heap_map_deinit()
 * in any case. Returns 0; -ENOMEM; or -EILSEQ if chunks are inconsistent (if memory changes while
 * it is read, only if the first chunks are inconsistent).
 */
int heap_map_walk(struct heap_map *map, struct heap_reader *reader, enum heap_end end,
		  uint64_t limit);
void heap_map_deinit(struct heap_map *map);

/*
 * Returns the size of the chunk at addr, including its header; 0 if no chunk below map->tail begins
 * there.
 */
uint64_t heap_map_size(const struct heap_map *map, uint64_t addr);
bool heap_map_is_free(const struct heap_map *map, uint64_t addr);
/* Sets or clears the free mark of the chunk at addr. */
void heap_map_mark(struct heap_map *map, uint64_t addr, bool is_free);
/* True if addr is in a gap. */
bool heap_map_is_gap(const struct heap_map *map, uint64_t addr);
/* Returns the address of the first chunk at addr or above, map->tail if there is none. */
uint64_t heap_map_next(const struct heap_map *map, uint64_t addr);

#endif
