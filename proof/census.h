/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Census of glibc's heap from memory alone: which chunks are used, which are free, and which belong
 * to the allocator. Needs no symbols, so it works for static and stripped programs. Does not see
 * blocks of other allocators.
 *
 * A chunk counts as free only if it is in a free list that was followed from its head, or in a free
 * list whose links are all consistent. So a free chunk may be counted as used if, while memory was
 * read, a thread was freeing it or changing the thread cache that contains it.
 */
#ifndef PROOF_CENSUS_H
#define PROOF_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/chunk.h"
#include "proof/mapped_chunks.h"
#include "proof/memory.h"

/*
 * An address range of a heap. In `census.heaps`, it contains only chunks that were visited, with
 * their headers, and gaps.
 */
struct heap_range {
	uint64_t start;
	uint64_t end; /* end address, exclusive */
	bool main;    /* true if the range belongs to the main arena, which grows by brk() */
};

struct census_sum {
	uint64_t bytes;
	uint64_t count;
};

struct census {
	struct heap_range *heaps; /* ranges of heaps, sorted by address */
	size_t heap_cnt, heap_cap;
	/*
	 * Known ranges of skipped arenas, sorted by address. They overlap neither each other nor a
	 * heap.
	 */
	struct heap_range *unread;
	size_t unread_cnt, unread_cap;
	struct mapped_chunks outside; /* main arenas, and chunks outside heaps; sorted by address */
	size_t arena_cnt;             /* number of arenas whose heaps were all found */
	/* number of arenas skipped as inconsistent, e.g. because a thread was changing them */
	size_t skipped_cnt;
	/* counted arenas that changed while they were read; 0 unless memory.changes is set */
	size_t torn_cnt;
	size_t cache_cnt; /* number of thread caches that are not empty */
	/*
	 * Number of fast bins that were too long to follow to the end. Their remaining free chunks
	 * are counted as used.
	 */
	size_t cut_cnt;
	/*
	 * one sum per enum chunk_state, without the chunks counted in `mapped`; `gaps` is the sum
	 * for CHUNK_UNREAD
	 */
	struct census_sum used, free_, own, gaps;
	struct census_sum mapped; /* used chunks that have a mapping of their own */
	uint64_t top_bytes;       /* bytes of free top chunks, included in `own` */
};

/* Called for each chunk. Return nonzero to end the census with this value. */
typedef int census_visit_fn(void *arg, const struct chunk *chunk);

/*
 * Visits all chunks in ascending order, including chunks with a mapping of their own. visit: may be
 * NULL. Skips an inconsistent arena as a whole, because its used chunks are unknown. (If memory
 * changes while it is read, an arena is skipped only if its heaps cannot be walked.) Callers must
 * treat the memory of a skipped arena, and all memory without chunks, as used. Returns 0, -ENOMEM,
 * or the nonzero value that `visit` returned. Free ret with census_deinit().
 */
int census_take(const struct memory *memory, census_visit_fn *visit, void *arg, struct census *ret);
void census_deinit(struct census *census);

#endif
