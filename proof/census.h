/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Census of glibc's heap from memory alone: which chunks are used, which are free, and which belong
 * to the allocator. Needs no symbols, so static and stripped programs work; finds nothing of other
 * allocators.
 *
 * A chunk counts as free only if it is in a free list that was followed from its head, or in one
 * whose links all fit. A chunk counted as used may still be free if it is in the cache of a thread
 * that was changing it, or if a thread was freeing it at that moment.
 */
#ifndef PROOF_CENSUS_H
#define PROOF_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/chunk.h"
#include "proof/mapped_chunks.h"
#include "proof/memory.h"

/* Memory range in which each byte belongs to a visited chunk or is a chunk's size field. */
struct heap_range {
	uint64_t start;
	uint64_t end; /* end address, exclusive */
	bool main;    /* of the main arena, which grows by brk() */
};

struct census_sum {
	uint64_t bytes;
	uint64_t count;
};

struct census {
	struct heap_range *heaps; /* sorted by address */
	size_t heap_cnt, heap_cap;
	struct mapped_chunks outside; /* chunks outside heaps, by address; includes main arenas */
	size_t arena_cnt;             /* arenas whose heaps were all found */
	size_t skipped_cnt; /* inconsistent arenas, such as one that a thread was changing */
	size_t cache_cnt;   /* thread caches that are not empty */
	/*
	 * Fast bins that were not followed to the end because they are too long. Their free chunks
	 * are counted as used.
	 */
	size_t cut_cnt;
	struct census_sum used, free_, own; /* sums of chunks in heaps, by state */
	struct census_sum mapped;           /* used chunks that have a mapping of their own */
	uint64_t top_bytes;                 /* free tops of heaps, included in own */
};

/* Return nonzero to end the census with this value. */
typedef int census_visit_fn(void *arg, const struct chunk *chunk);

/*
 * Visits all chunks in ascending order, including those with their own mapping. Skips an
 * inconsistent arena as a whole, as its used chunks are unknown: treat its memory, and all memory
 * without chunks, as used. Returns -ENOMEM or what visit returned. Free ret with census_deinit().
 */
int census_take(const struct memory *memory, census_visit_fn *visit, void *arg, struct census *ret);
void census_deinit(struct census *census);

#endif
