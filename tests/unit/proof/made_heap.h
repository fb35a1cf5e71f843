/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that fills glibc's heap at random and knows what it holds. It is this file and its .c
 * alone, so that other C libraries can be tried: built with -DMADE_HEAP_PROGRAM it has a main.
 *
 * It prints "truth ADDRESS COUNT\n" when it is done, and stands still until its input ends. At the
 * address are COUNT blocks, in the order in which they were freed, and then those that are used.
 * With endless=1 it goes on all the time, and has its blocks at the address, unused ones as well.
 */
#ifndef TESTS_UNIT_PROOF_MADE_HEAP_H
#define TESTS_UNIT_PROOF_MADE_HEAP_H

#include <stdint.h>

struct made_block {
	uint64_t addr;
	uint64_t size;
	uint64_t is_used; /* or MADE_BLOCK_CHANGING */
};

#define MADE_BLOCK_CHANGING 2U

/* argv[1..]: NAME=NUMBER of struct made_heap_order. An exit code. */
int made_heap_main(int argc, char **argv);

#endif
