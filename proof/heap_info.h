/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the heap_info at the start of each heap of an arena other than the main one. Such heaps
 * begin at multiples of the maximum heap size. Knows nothing of chunks.
 */
#ifndef PROOF_HEAP_INFO_H
#define PROOF_HEAP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/heap_reader.h"

/* Maximum heap size in bytes, unless glibc uses huge pages */
#define HEAP_MAX_USUAL (64ULL << 20)

/* glibc's heap_info; newer versions append the page size and padding. */
struct heap_info {
	uint64_t arena;
	uint64_t previous;
	uint64_t size;
	uint64_t writable_size;
};

bool heap_info_read(struct heap_reader *reader, uint64_t heap, struct heap_info *ret);

/* True if the heap is the arena's first heap: its heap_info is followed by the arena. */
bool heap_info_is_first(uint64_t heap, uint64_t arena);

/* A search for heaps. Initialise reader and max, and all other fields with zeros. */
struct heap_info_search {
	struct heap_reader *reader;
	uint64_t max;  /* maximum heap size in bytes */
	uint64_t heap; /* address of the heap that was found last; its header is in `info` */
	struct heap_info info;
	size_t place_cnt; /* addresses at which a header was looked for */
	bool is_cut;      /* true if the search ended because place_cnt has reached its maximum */
};

/*
 * Finds the next address at which a heap may begin, in ascending order; reads its header. Searches
 * the private memory in the list of mappings. False if there is no further address, or if the
 * maximum number of addresses was read (see is_cut).
 */
bool heap_info_next(struct heap_info_search *search);

#endif
