/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares a census with what a program of made_heap.h knows of its heap. */
#ifndef TESTS_UNIT_PROOF_HEAP_CHECK_H
#define TESTS_UNIT_PROOF_HEAP_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct heap_check {
	size_t live, live_seen; /* used blocks, and those that are told as such */
	size_t neighbours;      /* not seen, as other memory lies before them in their mappings */
	size_t live_free;       /* that are told to be free: there must be none */
	size_t freed;           /* freed blocks whose memory was not used again */
	size_t freed_used;      /* that are told to be used */
	size_t other_used;      /* used chunks that the program knows nothing of */
	size_t arenas, skipped, caches, heaps;
	uint64_t heap_bytes, cpu_ns;
};

/* Of a program that heap_program_start() starts. */
void heap_check_run(char **argv, const char *tunables, struct heap_check *ret);

/*
 * Runs a program that is endless, stops it so many times wherever it is, and adds up what is found
 * then; of freed blocks it knows nothing.
 */
void heap_check_busy(char **argv, const char *tunables, size_t times, struct heap_check *ret);

#endif
