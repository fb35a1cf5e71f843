/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads glibc's per-thread cache (tcache) of free chunks. It has lists of free chunks, each for one
 * size or a range of sizes, and the length of each list. The cache itself is in an ordinary chunk,
 * which can only be recognised by its content. Does not follow the lists.
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
	/*
	 * For each list: its length; or, if counts_room is set, the number of chunks that can still
	 * be added.
	 */
	uint16_t counts[THREAD_CACHE_BINS_MAX];
	bool counts_room;
	/* For each list: address of the first chunk's data, 0 if empty. */
	uint64_t firsts[THREAD_CACHE_BINS_MAX];
	/* For each list: range of the sizes of its chunks. */
	uint64_t size_mins[THREAD_CACHE_BINS_MAX], size_maxs[THREAD_CACHE_BINS_MAX];
};

/* Quick check: false if a chunk of this size cannot be a thread cache. */
static inline bool thread_cache_has_size(uint64_t size)
{
	return size >= 0x250 && size <= 0x310;
}

/*
 * Reads the chunk at addr as a thread cache. size: its size. False if the chunk does not look like
 * a thread cache, or if all lists are empty: an empty cache cannot be recognised.
 */
bool thread_cache_read(struct heap_reader *reader, uint64_t addr, uint64_t size,
		       struct thread_cache *ret);

#endif
