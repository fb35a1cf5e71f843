/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc's per-thread cache (tcache) of free chunks: lists by size, and their lengths. It is in an
 * ordinary chunk, recognisable by content only. Does not follow the lists.
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
	/* List lengths; with counts_room, how much longer the lists may become. */
	uint16_t counts[THREAD_CACHE_BINS_MAX];
	bool counts_room;
	/* Data address of the first chunk, 0 if the list is empty. */
	uint64_t firsts[THREAD_CACHE_BINS_MAX];
	/* Range of chunk sizes in each list. */
	uint64_t size_mins[THREAD_CACHE_BINS_MAX], size_maxs[THREAD_CACHE_BINS_MAX];
};

/* Quick check: false if a chunk of size bytes cannot be a cache. */
static inline bool thread_cache_has_size(uint64_t size)
{
	return size >= 0x250 && size <= 0x310;
}

/*
 * Reads a chunk of size bytes as a cache. False if it does not look like one, or is an empty one,
 * which looks like any chunk.
 */
bool thread_cache_read(struct heap_reader *reader, uint64_t addr, uint64_t size,
		       struct thread_cache *ret);

#endif
