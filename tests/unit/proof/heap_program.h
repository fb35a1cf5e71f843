/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running program of made_heap.h. One that fails makes the test fail. */
#ifndef TESTS_UNIT_PROOF_HEAP_PROGRAM_H
#define TESTS_UNIT_PROOF_HEAP_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

#include "tests/unit/proof/made_heap.h"

struct heap_program {
	pid_t pid;
	int input;
	struct made_block *blocks; /* the used ones first, by address */
	size_t cnt, used_cnt;
	unsigned long truth; /* where it has them */
};

/* Runs argv with GLIBC_TUNABLES, NULL for none, until it says that it is done. */
void heap_program_start(struct heap_program *program, char **argv, const char *tunables);
void heap_program_read(struct heap_program *program);
void heap_program_end(struct heap_program *program);

#endif
