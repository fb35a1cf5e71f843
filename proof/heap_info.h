/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header of each heap of an arena other than the main one. Such heaps begin at multiples of the
 * maximum heap size. Does not know chunks.
 */
#ifndef PROOF_HEAP_INFO_H
#define PROOF_HEAP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/heap_reader.h"

/* Maximum heap size in bytes, unless glibc uses huge pages */
#define HEAP_MAX_USUAL (64ULL << 20)

/* glibc's heap_info; newer versions append the page size and padding. */
struct heap_info {
	uint64_t arena;
	uint64_t previous;
	uint64_t size;
	uint64_t writable_size;
};

bool heap_info_read(struct heap_reader *reader, uint64_t heap, struct heap_info *ret);

/* True if the heap is the arena's first heap: its heap_info is followed by the arena. */
bool heap_info_is_first(uint64_t heap, uint64_t arena);

/* Called for memory that may be a heap. May return nonzero to end the visit with this value. */
typedef int heap_info_fn(void *arg, uint64_t heap, const struct heap_info *info);

/*
 * Visits all listed private memory where heaps of the given maximum size may begin. Returns 0,
 * -EILSEQ if there are too many such addresses, or the nonzero value that visit() returned.
 */
int heap_info_visit(struct heap_reader *reader, uint64_t max, heap_info_fn *visit, void *arg);

#endif
