/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program of made_heap.h. If the program fails, the test fails. */
#ifndef TESTS_UNIT_PROOF_HEAP_PROGRAM_H
#define TESTS_UNIT_PROOF_HEAP_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "tests/unit/proof/made_heap.h"

struct heap_program {
	pid_t pid;
	int input;
	struct made_block *blocks; /* all blocks: used blocks, by address, then freed ones */
	size_t cnt, used_cnt;
	unsigned long truth; /* address of the program's records */
};

/* Starts argv and waits for its "truth" line. tunables is the value of GLIBC_TUNABLES, or NULL. */
void heap_program_start(struct heap_program *program, char **argv, const char *tunables);
void heap_program_read(struct heap_program *program);
void heap_program_end(struct heap_program *program);

#endif
