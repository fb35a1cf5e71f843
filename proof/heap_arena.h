/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds glibc's arenas (struct malloc_state) without symbols: an arena has an array of 127 list
 * heads, and each head of an empty list points to itself. Does not find the chunks of an arena.
 */
#ifndef PROOF_HEAP_ARENA_H
#define PROOF_HEAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proof/heap_reader.h"

#define ARENA_FAST_BINS 10U
#define ARENA_BINS 127U

struct heap_arena {
	/*
	 * Address of the struct malloc_state; 0 if the list of arenas does not lead back to this
	 * arena.
	 */
	uint64_t addr;
	uint64_t start, end; /* address range that certainly belongs to the arena */
	/*
	 * Address of the field that points to the top chunk. The list heads begin two words after
	 * it.
	 */
	uint64_t lists;
	uint64_t top;
	uint64_t next; /* address of the next arena in the circular list of arenas */
	/*
	 * Bytes obtained from the system, for each of two possible offsets: in some versions of
	 * glibc, the number of threads precedes this field.
	 */
	uint64_t system_bytes[2];
	bool main;
	bool scattered; /* true if the arena has memory that was not obtained by brk() */
	/* First chunk of each fast bin, for chunks of 32 bytes, 48 bytes, and so on. */
	uint64_t fast[ARENA_FAST_BINS];
	/*
	 * Hash sums of the forward and backward pointers of the arena's list heads. heap_map.h says
	 * how such sums show whether free lists are consistent.
	 */
	uint64_t forward_sum, backward_sum;
};

struct heap_arenas {
	struct heap_arena *items;
	size_t cnt, cap;
	/* Number of arenas known to be missing from `items` because they cannot be read. */
	size_t unread_cnt;
};

/* Finds all arenas. Returns 0 or -ENOMEM. Free ret with heap_arenas_deinit() after success. */
int heap_arenas_find(struct heap_reader *reader, struct heap_arenas *ret);
void heap_arenas_deinit(struct heap_arenas *arenas);

/*
 * Gets the memory that brk() grows. There are several mappings of it if the process was forked and
 * its heap has grown since. False if the top chunk of the main arena `arena` is not in this memory.
 * The top chunk may also be just beyond *ret_end: the memory has then grown since the mappings were
 * listed.
 */
bool heap_arena_break(const struct memory *memory, const struct heap_arena *arena,
		      uint64_t *ret_start, uint64_t *ret_end);

#endif
