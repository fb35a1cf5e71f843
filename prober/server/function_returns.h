/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instructions by which a function returns, in its own code and in code to which it
 * jumps. If an exception may leave the function, probes on these instructions are used instead of a
 * return probe, which would break unwinding. The file is hostile: reads are bounded, and probes are
 * placed only on instructions that the function's code reaches.
 */
#ifndef PROBER_SERVER_FUNCTION_RETURNS_H
#define PROBER_SERVER_FUNCTION_RETURNS_H

#include "prober/server/code_file.h"
#include "prober/server/elf_functions.h"

struct function_returns {
	enum function_verdict verdict;
	size_t through;    /* with FUNCTION_THROUGH: index of the wanted function that is called */
	bool jumps_there;  /* the function does nothing but jump to the function `through` */
	uint64_t *offsets; /* file offsets of returns, from malloc(); with FUNCTION_RETURNS only */
	size_t cnt;
};

/*
 * All wanted functions, and their definitions found in the file. A function that calls or jumps to
 * one of them may be passing its calls on to it.
 */
struct named_functions {
	const struct wanted_function *items;
	size_t cnt;
	const struct elf_function *found;
	size_t found_cnt;
};

/* Finds the return instructions of a function. Returns 0 or a negative errno. */
int function_returns_find(struct code_file *code, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret);

#endif
