/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the instructions by which a function returns, in its own code and in code to which it
 * jumps. Needed for functions that an exception may leave: probes are placed on these instructions,
 * since a return probe would break the unwinding of the exception. The file is hostile: reads are
 * bounded, and only instructions that the function's code reaches are found.
 */
#ifndef PROBER_SERVER_FUNCTION_RETURNS_H
#define PROBER_SERVER_FUNCTION_RETURNS_H

#include "prober/server/code_file.h"
#include "prober/server/elf_functions.h"

struct function_returns {
	enum function_verdict verdict;
	/* with FUNCTION_THROUGH: index, in named_functions.items, of the other function */
	size_t through;
	bool jumps_there;  /* true if the first instruction is a jump to the function `through` */
	uint64_t *offsets; /* with FUNCTION_RETURNS: file offsets of returns, from malloc() */
	size_t cnt;
};

/*
 * All wanted functions (`items`), and their definitions in the file (`found`). If a function calls
 * or jumps to a named function, it may be one that passes every call to the named function.
 */
struct named_functions {
	const struct wanted_function *items;
	size_t cnt;
	const struct elf_function *found;
	size_t found_cnt;
};

/*
 * Finds the return instructions of a function. If every path through the function calls or jumps to
 * a named function, finds one of these instead. If the code cannot be analysed, the verdict is
 * FUNCTION_UNKNOWN. Returns 0, -ENOMEM, or -ENOEXEC if the function's segment does not exist.
 */
int function_returns_find(struct code_file *code, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret);

#endif
