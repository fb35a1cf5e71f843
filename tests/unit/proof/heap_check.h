/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a census of a program's heap with the program's records (see made_heap.h). */
#ifndef TESTS_UNIT_PROOF_HEAP_CHECK_H
#define TESTS_UNIT_PROOF_HEAP_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct heap_check {
	size_t live, live_seen; /* used blocks, and those of them that the census reports as used */
	size_t neighbours;      /* used blocks that a census cannot find: see has_neighbour() */
	size_t live_free;       /* used blocks that the census reports as free: must be 0 */
	size_t freed;      /* freed blocks, unless used blocks have taken all of their memory */
	size_t freed_used; /* freed blocks whose memory the census reports as used */
	size_t other_used; /* used chunks in the census that are not the program's blocks */
	size_t arenas, skipped, caches, heaps;
	uint64_t heap_bytes, cpu_ns;
};

/*
 * Starts a program by heap_program_start(), waits until the program is done, and checks its heap.
 */
void heap_check_run(char **argv, const char *tunables, struct heap_check *ret);

/*
 * Stops an endless program at varying times, and sums up `times` checks of its heap. Such a program
 * has no records of freed blocks.
 */
void heap_check_busy(char **argv, const char *tunables, size_t times, struct heap_check *ret);

#endif
