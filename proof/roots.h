/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process keeps pointers to blocks that are not in blocks: what it has written of its
 * mappings, stacks from the stack pointer on, and registers. Memory that an allocator handed out
 * before it was watched belongs to them, for nobody knows whether it is in use, unless the heap was
 * read itself: then what is free is none.
 */
#ifndef PROOF_ROOTS_H
#define PROOF_ROOTS_H

#include "proof/marking.h"
#include "proof/memory.h"
#include "proof/thread_state.h"

/* Address ranges, by address. */
struct root_ranges {
	struct root_range *items;
	size_t cnt;
	size_t cap;
};

/* Adds a range behind the others, or to the last one, if nothing or little lies between. */
int root_ranges_add(struct root_ranges *ranges, uint64_t start, uint64_t end, uint64_t gap_bytes);
void root_ranges_deinit(struct root_ranges *ranges);

/* Root memory by what it is. */
struct root_memory {
	struct root_ranges data;
	struct root_ranges
		code; /* that the process has made itself, or a file's that was changed */
	struct root_ranges late; /* in mappings that have blocks, whatever these are for */
};

void root_memory_deinit(struct root_memory *roots);

/*
 * Finds the root memory of a process, whole pages where it is not a stack. heaps: by address, what
 * is left out. 0 or a negative errno.
 */
int roots_find(const struct memory *memory, const struct thread_states *threads,
	       const struct block_index *index, const struct root_ranges *heaps,
	       struct root_memory *ret);

#endif
