/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions with which calls of a function return: read from its code and that which it
 * jumps to. Probes on them stand in for a return probe where an exception may leave the function,
 * which no return probe survives. The file is hostile: what is read is bounded, and a probe goes
 * to nothing that its code does not get to.
 */
#ifndef LOADER_PROBES_FUNCTION_RETURNS_H
#define LOADER_PROBES_FUNCTION_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/target/elf_functions.h"

enum function_verdict {
	FUNCTION_RETURNS, /* here is where */
	FUNCTION_THROUGH, /* every call that returns has passed another of the named functions */
	FUNCTION_UNKNOWN, /* some of its code cannot be followed */
};

struct function_returns {
	enum function_verdict verdict;
	const char *through; /* one of the names; NULL: not through any */
	bool jumps_there;    /* at once: it does nothing else */
	uint64_t *offsets;   /* in the file, malloc'ed; FUNCTION_RETURNS only */
	size_t cnt;
};

/* The functions that calls may pass: of the names, and where the file has those it has. */
struct named_functions {
	const char *const *names; /* NULL: no name */
	size_t name_cnt;
	const struct elf_function *found;
	size_t found_cnt;
};

/* Returns 0 or a negative errno. */
int function_returns_find(int fd, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret);

#endif
