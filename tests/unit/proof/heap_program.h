/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a program of made_heap.h, and reads the records of its blocks. Fails the test if the program
 * fails.
 */
#ifndef TESTS_UNIT_PROOF_HEAP_PROGRAM_H
#define TESTS_UNIT_PROOF_HEAP_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "tests/unit/proof/made_heap.h"

struct heap_program {
	pid_t pid;
	int input;
	/* all blocks: first the used ones, sorted by address, then the freed ones */
	struct made_block *blocks;
	size_t cnt, used_cnt;
	unsigned long truth; /* address of the records */
};

/*
 * Starts the program and waits for its "truth" line. tunables: the value of GLIBC_TUNABLES, or
 * NULL.
 */
void heap_program_start(struct heap_program *program, char **argv, const char *tunables);
void heap_program_read(struct heap_program *program);
void heap_program_end(struct heap_program *program);

#endif
