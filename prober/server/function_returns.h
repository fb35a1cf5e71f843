/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instructions with which a function returns, in its code and code that it jumps to.
 * Probes on them replace a return probe where an exception may leave the function, which return
 * probes do not survive. The file is hostile: reads are bounded, and probes go only on instructions
 * that the code reaches.
 */
#ifndef PROBER_SERVER_FUNCTION_RETURNS_H
#define PROBER_SERVER_FUNCTION_RETURNS_H

#include "prober/server/code_file.h"
#include "prober/server/elf_functions.h"

struct function_returns {
	enum function_verdict verdict;
	size_t through;    /* with FUNCTION_THROUGH: index of the function that calls pass */
	bool jumps_there;  /* the function only jumps to the function `through` */
	uint64_t *offsets; /* file offsets, from malloc(); with FUNCTION_RETURNS only */
	size_t cnt;
};

/* The functions that calls may pass through: all names, and the definitions found in the file. */
struct named_functions {
	const struct wanted_function *items;
	size_t cnt;
	const struct elf_function *found;
	size_t found_cnt;
};

/* Finds the returns of a function. Returns 0 or a negative errno. */
int function_returns_find(struct code_file *code, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret);

#endif
