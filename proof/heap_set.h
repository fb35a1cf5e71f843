/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of glibc chunks in a process, sorted by address. */
#ifndef PROOF_HEAP_SET_H
#define PROOF_HEAP_SET_H

#include "proof/heap_map.h"

struct heap_set {
	/* maps; after heap_set_sort(), they are sorted by address and no two overlap */
	struct heap_map *maps;
	size_t cnt, cap;
	/*
	 * Address ranges of inconsistent runs, whose free chunks are unknown. After
	 * heap_set_sort(), they are sorted and overlap neither each other nor a map.
	 */
	struct heap_span {
		uint64_t start, end;
	} * unknown;
	size_t unknown_cnt, unknown_cap;
};

/* Adds a map and takes ownership of it. On -ENOMEM, the caller keeps ownership. */
int heap_set_add(struct heap_set *set, const struct heap_map *map);
/*
 * Walks a map as heap_map_walk() does and adds it. Returns -EILSEQ also if any memory up to the
 * limit is not readable. But if memory changes, a map with a heap_info ends where the readable
 * memory ends.
 */
int heap_set_walk(struct heap_set *set, struct heap_reader *reader, struct heap_map map,
		  enum heap_end end, uint64_t limit);
int heap_set_add_unknown(struct heap_set *set, uint64_t start, uint64_t end);
/*
 * Call once all maps and unknown ranges are added. Removes each map that overlaps an earlier one,
 * and adds the rest of its range as unknown.
 */
int heap_set_sort(struct heap_set *set);
/* Returns the map that has chunks at addr, or NULL. */
struct heap_map *heap_set_find(const struct heap_set *set, uint64_t addr);
/* True if any map overlaps the range from start to end. */
bool heap_set_overlaps(const struct heap_set *set, uint64_t start, uint64_t end);
/* True if addr is in an unknown range. Call after heap_set_sort(). */
bool heap_set_is_unknown(const struct heap_set *set, uint64_t addr);
void heap_set_deinit(struct heap_set *set);

#endif
