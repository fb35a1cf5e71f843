/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What glibc's heap held, from a picture of memory alone: which blocks were used, which free, and
 * what was the allocator's own. No symbols are needed, so static and stripped programs will do; of
 * other allocators nothing is found.
 *
 * A chunk is called free only if it is in a list of the allocator's that was followed from its
 * head, or whose links were all seen to fit. A used one may have been freed nonetheless, in two
 * cases: it is in the cache of a thread that was just changing it, or the thread was just freeing
 * it.
 */
#ifndef PROOF_CENSUS_H
#define PROOF_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/chunk.h"
#include "proof/mapped_chunks.h"
#include "proof/memory.h"

/* Memory where each byte is of a chunk that was visited, or a chunk's size. */
struct heap_range {
	uint64_t start;
	uint64_t end; /* exclusive */
	bool main;    /* of the main arena, whose memory the break gives */
};

struct census_sum {
	uint64_t bytes;
	uint64_t count;
};

struct census {
	struct heap_range *heaps; /* by address */
	size_t heap_cnt, heap_cap;
	struct mapped_chunks outside; /* of heaps, by address; main arenas are among them */
	size_t arena_cnt;             /* arenas all of whose heaps are there */
	size_t skipped_cnt; /* arenas that did not add up, as one that a thread was just changing */
	size_t cache_cnt;   /* caches of threads that have something */
	/*
	 * Fast bins that were not followed to their ends, as that takes too long: free chunks of
	 * theirs are told as used.
	 */
	size_t cut_cnt;
	struct census_sum used, free_, own; /* of chunks in heaps, as visited */
	struct census_sum mapped;           /* used ones with a mapping of their own */
	uint64_t top_bytes;                 /* of own */
};

/* Anything but 0 ends the census, which returns it. */
typedef int census_visit_fn(void *arg, const struct chunk *chunk);

/*
 * Visits all chunks in ascending order, and those that have a mapping of their own with them. An
 * arena that does not add up is left out as a whole: nobody then knows what is used. Its memory, as
 * all else that no chunk covers, is to be taken for used. Fails with -ENOMEM and what visit
 * returns. ret is to be given to census_deinit.
 */
int census_take(const struct memory *memory, census_visit_fn *visit, void *arg, struct census *ret);
void census_deinit(struct census *census);

#endif
