/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the objects in the memory of language runtimes, and how to find out more about them. */
#ifndef REPORT_RUNTIME_OBJECTS_H
#define REPORT_RUNTIME_OBJECTS_H

#include <stdbool.h>

struct runtime_objects {
	const char *runtime; /* name of the runtime, without version */
	const char *words;   /* name of the kind of objects, such as "python objects" */
	const char *advice;  /* how to find out which objects grow; NULL if not known */
	/* True if the advice is of no use for objects that have a heap block each. */
	bool advises_only_pools;
	/*
	 * If not NULL, replace `advice` in a report in which no stack has a line of a script:
	 * lineless_advice for objects in pools, lineless_block_advice for objects that have a heap
	 * block each. memleak can read the lines of the runtime's scripts only on some machines.
	 */
	const char *lineless_advice;
	const char *lineless_block_advice;
	/*
	 * The description applies only to versions of the runtime before this one; NULL if it
	 * applies to all.
	 */
	const char *before;
	/*
	 * True if the runtime is a library that any program can load, and runs no scripts itself.
	 */
	bool is_library;
	/*
	 * True if the runtime allocates heap blocks for objects of scripts. If such a runtime is
	 * the executable of a process, the process's heap blocks are added to the runtime's pool
	 * (pools.h).
	 */
	bool has_blocks;
	/*
	 * If not NULL, the description applies only to blocks that functions with one of these
	 * prefixes allocate.
	 */
	const char *const *functions;
};

/*
 * Returns the kind of objects of the runtime with the file `module`; NULL if the file is no
 * runtime.
 */
const struct runtime_objects *runtime_objects_of(const char *module);

/*
 * Returns the kind of objects for which the function `symbol` of a runtime allocates blocks; NULL
 * if not known.
 */
const struct runtime_objects *runtime_blocks_of(const char *module, const char *symbol);

/*
 * True if a runtime allocates a heap block for each object of its scripts, or for each object of
 * some kinds.
 */
bool runtime_has_blocks(const char *module);

#endif
