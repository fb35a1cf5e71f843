/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of one run of glibc's heap are, and which are free: two bits for each 16 bytes.
 * Knows chunks' headers, and nothing of arenas and of the lists that free chunks are in.
 *
 * Addresses here are those of chunks, as glibc counts: the word at a chunk is the size of the chunk
 * before it if that one is free, and else its last word; then come its own size with three flags,
 * and what malloc returned.
 */
#ifndef PROOF_HEAP_MAP_H
#define PROOF_HEAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"

#define CHUNK_ALIGN 16U
#define CHUNK_HEADER 16U /* from a chunk to what malloc returned */
#define CHUNK_MIN 32U

#define CHUNK_PREV_USED 1U
#define CHUNK_MMAPPED 2U
#define CHUNK_OTHER_ARENA 4U
#define CHUNK_FLAGS 15U

/* What a run of chunks ends with. */
enum heap_end {
	HEAP_END_TOP,    /* the chunk that new ones are cut from */
	HEAP_END_MARK,   /* of a heap that its arena has grown out of: a header without a size */
	HEAP_END_FENCES, /* chunks of 16 bytes: somebody else has moved the break */
};

struct heap_map {
	uint64_t start; /* of the first chunk */
	uint64_t tail;  /* what ends the run; 0: it was not walked to its end */
	uint64_t end;   /* of the tail */
	uint64_t info;  /* heap_info and malloc_state are from there to start; 0: there are none */
	bool main;
	bool is_top; /* the tail is the arena's top chunk */
	size_t chunk_cnt;
	uint64_t *starts;     /* a chunk is there */
	uint64_t *free_marks; /* and is free */
	/*
	 * Sums of hashes of all links between a free chunk and the next, once as the one tells it
	 * and once as the other does. Those of an arena's heaps and of its list heads are equal if
	 * its lists are whole, and have all chunks that are said to be free, and no other.
	 */
	uint64_t forward_sum, backward_sum;
	/* Used chunks that look as if threads kept their free chunks in them: ascending. */
	uint64_t *caches;
	size_t cache_cnt, cache_cap;
};

/* The first place for a chunk at addr or behind it. */
static inline uint64_t heap_chunk_at(uint64_t addr)
{
	return (addr + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
}

/* What is the allocator's before the first chunk belongs to a run. */
static inline uint64_t heap_map_begin(const struct heap_map *map)
{
	return map->info ? map->info : map->start;
}

/* One link of a list: from is followed by to. */
uint64_t heap_link_hash(uint64_t from, uint64_t to);

/*
 * Walks from map->start to what ends the run, of which end says how it looks and limit where it
 * ends; fences may come before that. map is otherwise empty, and is to be given to heap_map_deinit
 * in any case. -EILSEQ: what is there does not add up.
 */
int heap_map_walk(struct heap_map *map, struct heap_reader *reader, enum heap_end end,
		  uint64_t limit);
void heap_map_deinit(struct heap_map *map);

/* The size of the chunk at addr, with its header; 0: there is no chunk of the program's. */
uint64_t heap_map_size(const struct heap_map *map, uint64_t addr);
bool heap_map_is_free(const struct heap_map *map, uint64_t addr);
/* addr is a chunk. */
void heap_map_mark(struct heap_map *map, uint64_t addr, bool is_free);
/* The first chunk at addr or behind it, or the tail. */
uint64_t heap_map_next(const struct heap_map *map, uint64_t addr);

#endif
