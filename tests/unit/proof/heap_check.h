/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a census with a program's own records of its heap (see made_heap.h). */
#ifndef TESTS_UNIT_PROOF_HEAP_CHECK_H
#define TESTS_UNIT_PROOF_HEAP_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct heap_check {
	size_t live, live_seen; /* numbers of used blocks, and of those reported as used */
	size_t neighbours; /* number of used blocks that cannot be found: see has_neighbour() */
	size_t live_free;  /* number of used blocks reported as free: must be 0 */
	size_t freed;      /* number of freed blocks whose memory was not completely reused */
	size_t freed_used; /* number of freed blocks reported as used */
	size_t other_used; /* number of used chunks unknown to the program */
	size_t arenas, skipped, caches, heaps;
	uint64_t heap_bytes, cpu_ns;
};

/*
 * Starts a program by heap_program_start(), waits until the program is done, and checks its heap.
 */
void heap_check_run(char **argv, const char *tunables, struct heap_check *ret);

/*
 * Stops an endless program at varying moments, checks its heap each time, and sums up the results.
 * `times` is the number of checks. The program keeps no record of freed blocks.
 */
void heap_check_busy(char **argv, const char *tunables, size_t times, struct heap_check *ret);

#endif
