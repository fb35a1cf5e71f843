/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions with which calls of a function return: read from its code and that which it
 * jumps to. Probes on them stand in for a return probe where an exception may leave the function,
 * which no return probe survives. The file is hostile: what is read is bounded, and a probe goes
 * to nothing that its code does not get to.
 */
#ifndef PROBER_SERVER_FUNCTION_RETURNS_H
#define PROBER_SERVER_FUNCTION_RETURNS_H

#include "prober/server/code_file.h"
#include "prober/server/elf_functions.h"

struct function_returns {
	enum function_verdict verdict;
	size_t through;    /* FUNCTION_THROUGH: index of the other one */
	bool jumps_there;  /* at once: it does nothing else */
	uint64_t *offsets; /* in the file, malloc'ed; FUNCTION_RETURNS only */
	size_t cnt;
};

/* The functions that calls may pass: of the names, and where the file has those it has. */
struct named_functions {
	const struct wanted_function *items;
	size_t cnt;
	const struct elf_function *found;
	size_t found_cnt;
};

/* Returns 0 or a negative errno. */
int function_returns_find(struct code_file *code, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret);

#endif
