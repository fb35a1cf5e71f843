/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that allocates at random from glibc's heap and records its blocks. It consists only of
 * this file and made_heap.c, so that it can be built for other C libraries. With
 * -DMADE_HEAP_PROGRAM it has a main().
 *
 * After its last step, the program prints "truth ADDRESS COUNT\n" and sleeps until its stdin ends.
 * At ADDRESS are COUNT records: freed blocks, in the order of their frees, then used blocks. With
 * endless=1 the program prints the line at once and never stops allocating; there is then one
 * record for each block, used or not.
 */
#ifndef TESTS_UNIT_PROOF_MADE_HEAP_H
#define TESTS_UNIT_PROOF_MADE_HEAP_H

#include <stdint.h>

struct made_block {
	uint64_t addr;
	uint64_t size;
	uint64_t is_used; /* 0, 1 or MADE_BLOCK_CHANGING */
};

#define MADE_BLOCK_CHANGING 2U

/*
 * Runs the program and exits. Arguments are NAME=NUMBER, where NAME is a field of struct
 * made_heap_order.
 */
int made_heap_main(int argc, char **argv);

#endif
