/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks: the large blocks that the function of a chunk pool allocates, and hands out in smaller
 * pieces. Decides from the bytes of each caller whether a function has a chunk pool.
 */
#ifndef REPORT_CHUNKS_H
#define REPORT_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the function of a chunk pool is. */
enum pool_function {
	POOL_AT_FRAME, /* the outermost function at the frame `blamed_from` */
	POOL_INLINED,  /* the blamed function, which is inlined into the pool's callers */
	POOL_UNKNOWN,  /* not known; the blamed function is one of the pool's callers */
};

struct chunks {
	uint64_t bytes; /* size of a chunk in bytes; 0 if no chunk pool took the site's memory */
	size_t callers; /* number of callers of the pool's function */
	enum pool_function function;
};

/* Minimum size of a chunk, in bytes. Smaller blocks count as single objects. */
#define LEAST_CHUNK 1024

/*
 * Sums over the callers of a function: bytes of its chunks, and bytes gained in the later part of
 * tracing.
 */
struct chunk_use {
	size_t callers;
	double usual; /* bytes in chunks of the usual size */
	double bytes, most_bytes;
	double gained, most_gained;
};

/* Majority vote of Boyer and Moore on the sizes of blocks; begins with all fields 0. */
struct size_vote {
	/*
	 * If more than half of the bytes are in blocks of one size, this size; otherwise, an
	 * arbitrary size.
	 */
	uint64_t size;
	uint64_t lead;
};

/* Returns the size of `count` blocks with a total of `bytes`; 0 if their sizes must differ. */
static inline uint64_t chunk_size(uint64_t bytes, uint64_t count)
{
	return count && bytes % count == 0 ? bytes / count : 0;
}

void size_vote_add(struct size_vote *vote, uint64_t size, uint64_t bytes);

/* Adds a caller with all its chunks. Chunks of the usual size must be added to use->usual. */
void chunk_use_add(struct chunk_use *use, double bytes, double gained);

/*
 * True if the function has a chunk pool: it has at least least_callers callers, none of which has
 * most of the memory or of its growth, and nearly all chunks have one size.
 */
bool chunk_use_is_pool(const struct chunk_use *use, size_t least_callers);

#endif
