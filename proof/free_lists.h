/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks the free chunks in thread caches and in fast bins. These chunks differ from used chunks
 * only by being in such lists: their headers look the same.
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
	/*
	 * hidden: true if each link is XORed with its own address (safe linking); valid only if
	 * is_known is set.
	 */
	bool is_known, hidden;
	/* remaining steps along lists; limited, so that following a corrupt list ends */
	uint64_t steps_left;
	uint64_t reads_max; /* limit on the reader's page_reads counter */
	size_t cut_cnt;     /* number of fast bins too long to be marked in full */
	/* Addresses of the chunks that are thread caches, ascending. */
	uint64_t *caches;
	size_t cache_cnt, cache_cap;
};

void free_lists_init(struct free_lists *lists, struct heap_reader *reader, struct heap_set *heaps);
void free_lists_deinit(struct free_lists *lists);

/*
 * Finds the thread caches in all heaps, and marks the chunks in their lists. A chunk that looks
 * like a thread cache, but whose lists do not match its counts, is treated as a used chunk. Returns
 * 0 or -ENOMEM.
 */
int free_lists_mark_caches(struct free_lists *lists);

/*
 * Marks the chunks of a fast bin, up to a limit of page reads; none if any chunk does not fit the
 * bin. first: first chunk of the bin; size: size of each chunk.
 */
void free_lists_mark_fast(struct free_lists *lists, uint64_t first, uint64_t size);

#endif
