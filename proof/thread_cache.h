/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc's per-thread cache (tcache) of free chunks: lists by size, and their lengths. The cache
 * itself is in an ordinary chunk, which can only be recognised by its content. Does not follow the
 * lists.
 */
#ifndef PROOF_THREAD_CACHE_H
#define PROOF_THREAD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"

#define THREAD_CACHE_BINS_MAX 76U

struct thread_cache {
	size_t bin_cnt;
	/* Length of each list; or if counts_room is set, how many more chunks the list can have. */
	uint16_t counts[THREAD_CACHE_BINS_MAX];
	bool counts_room;
	/* Address of the first chunk's data, 0 if the list is empty. */
	uint64_t firsts[THREAD_CACHE_BINS_MAX];
	/* Range of chunk sizes in each list. */
	uint64_t size_mins[THREAD_CACHE_BINS_MAX], size_maxs[THREAD_CACHE_BINS_MAX];
};

/* Quick check: false if a chunk of this size cannot be a thread cache. */
static inline bool thread_cache_has_size(uint64_t size)
{
	return size >= 0x250 && size <= 0x310;
}

/*
 * Reads a chunk of this size as a thread cache. False if the chunk does not look like a thread
 * cache, or if all lists are empty: an empty cache cannot be recognised.
 */
bool thread_cache_read(struct heap_reader *reader, uint64_t addr, uint64_t size,
		       struct thread_cache *ret);

#endif
