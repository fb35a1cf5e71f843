/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of chunks of a process, by address: which one holds an address, and its chunk's state.
 */
#ifndef PROOF_HEAP_SET_H
#define PROOF_HEAP_SET_H

#include "proof/heap_map.h"

struct heap_set {
	struct heap_map *maps; /* sorted by heap_set_sort; no two overlap then */
	size_t cnt, cap;
	/* Runs that do not add up: free chunks are in them as well, but nobody knows where. */
	struct heap_span {
		uint64_t start, end;
	} * unknown;
	size_t unknown_cnt, unknown_cap;
};

/* Takes a map over; if that fails, with -ENOMEM, it stays with the caller. */
int heap_set_add(struct heap_set *set, const struct heap_map *map);
/* Walks a map as heap_map_walk() does, if all up to the limit can be read at all, and adds it. */
int heap_set_walk(struct heap_set *set, struct heap_reader *reader, struct heap_map map,
		  enum heap_end end, uint64_t limit);
int heap_set_add_unknown(struct heap_set *set, uint64_t start, uint64_t end);
/* To be called when all are there. Maps that overlap with one before them become unknown. */
int heap_set_sort(struct heap_set *set);
/* The map that has chunks at addr, or NULL. */
struct heap_map *heap_set_find(const struct heap_set *set, uint64_t addr);
/* Whether anything from start to end is in one of the maps. */
bool heap_set_overlaps(const struct heap_set *set, uint64_t start, uint64_t end);
bool heap_set_is_unknown(const struct heap_set *set, uint64_t addr);
void heap_set_deinit(struct heap_set *set);

#endif
