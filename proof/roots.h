/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds roots: memory outside blocks that may have pointers to blocks. Roots are the written parts
 * of mappings; of stacks, only the part from the stack pointer up. Heap memory from before tracing
 * began is a root, because its use is unknown; but if the census has walked the heap, its free
 * memory is known and is not a root.
 */
#ifndef PROOF_ROOTS_H
#define PROOF_ROOTS_H

#include "proof/marking.h"
#include "proof/memory.h"
#include "proof/thread_state.h"

/* Address ranges, sorted by address. */
struct root_ranges {
	struct root_range *items;
	size_t cnt;
	size_t cap;
};

/*
 * Appends a range, which must be above all earlier ones. If the gap below it is at most gap_bytes,
 * extends the last range instead. Returns 0 or -ENOMEM.
 */
int root_ranges_add(struct root_ranges *ranges, uint64_t start, uint64_t end, uint64_t gap_bytes);
void root_ranges_deinit(struct root_ranges *ranges);

/* Root memory by kind. */
struct root_memory {
	struct root_ranges data;
	struct root_ranges code; /* executable memory: generated code, and modified code of files */
	struct root_ranges late; /* memory outside blocks, in mappings that have blocks */
};

void root_memory_deinit(struct root_memory *roots);

/*
 * Finds the root memory of a process: whole pages; of stacks, the memory from the stack pointer up.
 * heaps: ranges to exclude, sorted by address. Returns 0 or a negative errno.
 */
int roots_find(const struct memory *memory, const struct thread_states *threads,
	       const struct block_index *index, const struct root_ranges *heaps,
	       struct root_memory *ret);

#endif
