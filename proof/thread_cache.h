/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread of glibc keeps free chunks for itself: lists by size, and how long they are. It is
 * an ordinary chunk, which nothing but its contents tells from others. Knows nothing of what the
 * lists lead to.
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
	/* How long the lists are; or, if that is what is counted, how much longer they may be. */
	uint16_t counts[THREAD_CACHE_BINS_MAX];
	bool counts_room;
	uint64_t firsts[THREAD_CACHE_BINS_MAX]; /* what malloc returned, 0: the list is empty */
	uint64_t size_mins[THREAD_CACHE_BINS_MAX], size_maxs[THREAD_CACHE_BINS_MAX]; /* of chunks */
};

/* Cheap, and true of each that is not empty: whether a chunk of size bytes at addr could be one. */
static inline bool thread_cache_has_size(uint64_t size)
{
	return size >= 0x250 && size <= 0x310;
}

/*
 * Reads the chunk of size bytes at addr as such a cache. False: it has nothing of one, or of one
 * that is empty, which cannot be told from other chunks.
 */
bool thread_cache_read(struct heap_reader *reader, uint64_t addr, uint64_t size,
		       struct thread_cache *ret);

#endif
