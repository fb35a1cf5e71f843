/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Free chunks that look used: those in caches of threads and in the fast bins of arenas, which
 * nothing but these lists tells from others. Marks them in the maps of their heaps.
 */
#ifndef PROOF_FREE_LISTS_H
#define PROOF_FREE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"
#include "proof/heap_set.h"

struct free_lists {
	struct heap_reader *reader;
	struct heap_set *heaps;
	/* Links are stored as they are, or with a part of where they stand in them: not known yet.
	 */
	bool is_known, hidden;
	uint64_t steps_left; /* lists that lead astray are not followed for ever */
	uint64_t reads_max;  /* of pages */
	size_t cut_cnt; /* fast bins of which only a first part was marked, as they take long */
	/* Chunks that are caches of threads: ascending. */
	uint64_t *caches;
	size_t cache_cnt, cache_cap;
};

void free_lists_init(struct free_lists *lists, struct heap_reader *reader, struct heap_set *heaps);
void free_lists_deinit(struct free_lists *lists);

/*
 * Finds the caches of threads in all heaps, and marks what is in their lists. One whose lists are
 * not as its counts say is taken for a used chunk. Fails only with -ENOMEM.
 */
int free_lists_mark_caches(struct free_lists *lists);

/* Marks the chunks of size bytes in the fast bin that begins with a chunk; none if one is not so.
 */
void free_lists_mark_fast(struct free_lists *lists, uint64_t first, uint64_t size);

#endif
