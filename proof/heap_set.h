/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The set of all runs of glibc chunks in a process, sorted by address. */
#ifndef PROOF_HEAP_SET_H
#define PROOF_HEAP_SET_H

#include "proof/heap_map.h"

struct heap_set {
	/* maps; sorted by address after heap_set_sort(), and then no two overlap */
	struct heap_map *maps;
	size_t cnt, cap;
	/*
	 * Address ranges of inconsistent runs, whose free chunks are unknown. After
	 * heap_set_sort(), the ranges are sorted and overlap neither each other nor a map.
	 */
	struct heap_span {
		uint64_t start, end;
	} * unknown;
	size_t unknown_cnt, unknown_cap;
};

/* Adds a map and takes ownership of it. Returns 0; or -ENOMEM, and the caller keeps ownership. */
int heap_set_add(struct heap_set *set, const struct heap_map *map);
/*
 * Walks a run of chunks with heap_map_walk(), and adds its map. Arguments and errors are those of
 * heap_map_walk(). Also returns -EILSEQ if any memory up to `limit` is not readable; but if memory
 * changes, a map with a heap_info may end where the readable memory ends.
 */
int heap_set_walk(struct heap_set *set, struct heap_reader *reader, struct heap_map map,
		  enum heap_end end, uint64_t limit);
int heap_set_add_unknown(struct heap_set *set, uint64_t start, uint64_t end);
/*
 * Sorts the maps and the unknown ranges. Call once, after all were added. Removes each map that
 * overlaps a map at a lower address, and adds the part of its range that no other map covers as
 * unknown. Returns 0 or -ENOMEM.
 */
int heap_set_sort(struct heap_set *set);
/* Returns the map whose chunks include addr, or NULL. */
struct heap_map *heap_set_find(const struct heap_set *set, uint64_t addr);
/* True if any map overlaps the range from start to end. */
bool heap_set_overlaps(const struct heap_set *set, uint64_t start, uint64_t end);
/* True if addr is in an unknown range. Call after heap_set_sort(). */
bool heap_set_is_unknown(const struct heap_set *set, uint64_t addr);
void heap_set_deinit(struct heap_set *set);

#endif
