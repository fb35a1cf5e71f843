/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the objects in the memory of language runtimes, and how to find out more about them. */
#ifndef REPORT_RUNTIME_OBJECTS_H
#define REPORT_RUNTIME_OBJECTS_H

#include <stdbool.h>

struct runtime_objects {
	const char *runtime;      /* name of the runtime without version */
	const char *words;        /* what the objects are called, such as "python objects" */
	const char *advice;       /* how to find out which objects grow; NULL if not known */
	const char *block_advice; /* advice if each object has a block of its own */
	const char *before;       /* the entry applies to versions before this one; NULL: to all */
	bool is_library;          /* a library for any program; it runs no scripts itself */
	/* If the runtime runs the process, its heap blocks are added to its mappings. */
	bool has_blocks;
	/* The entry applies to blocks taken by functions with these prefixes. */
	const char *const *functions;
};

/*
 * Returns the kind of objects of a runtime, given the path of its file; NULL if the file is no
 * runtime.
 */
const struct runtime_objects *runtime_objects_of(const char *module);

/* Returns the kind of objects for which a function of a runtime takes blocks; NULL if not known. */
const struct runtime_objects *runtime_blocks_of(const char *module, const char *symbol);

/* True if a runtime takes a heap block for each object of the scripts that it runs. */
bool runtime_has_blocks(const char *module);

#endif
