/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the objects in language runtimes' memory, and how to find out more about them. */
#ifndef REPORT_RUNTIME_OBJECTS_H
#define REPORT_RUNTIME_OBJECTS_H

#include <stdbool.h>

struct runtime_objects {
	const char *runtime;      /* name of the runtime without version */
	const char *words;        /* name of the objects, such as "python objects" */
	const char *advice;       /* how to find out which objects grow; NULL if not known */
	const char *block_advice; /* advice for objects that have a block each */
	const char *before;       /* entry is for versions before this one; NULL for all */
	bool is_library;          /* a library for any program, which runs no scripts */
	bool has_blocks; /* heap blocks are judged with mappings if the runtime runs the process */
	const char *const *functions; /* entry is for blocks of functions with these prefixes */
};

/* Returns the objects of a runtime, given the path of its file; NULL for other files. */
const struct runtime_objects *runtime_objects_of(const char *module);

/* Returns the objects for which a function of a runtime takes blocks; NULL if not known. */
const struct runtime_objects *runtime_blocks_of(const char *module, const char *symbol);

/* True if a runtime takes blocks for objects of the scripts that it runs. */
bool runtime_has_blocks(const char *module);

#endif
