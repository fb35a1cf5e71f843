/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runtimes of languages keep their memory for, and how to learn more than memleak can tell. */
#ifndef REPORT_RUNTIME_OBJECTS_H
#define REPORT_RUNTIME_OBJECTS_H

#include <stdbool.h>

struct runtime_objects {
	const char *runtime;      /* its name without a version */
	const char *words;        /* "python objects" */
	const char *advice;       /* how to find out which ones grow; NULL: none is known */
	const char *block_advice; /* the same where each has a block of its own */
	const char *before;       /* up to this version, which is not among them; NULL: all */
	bool is_library;          /* for any program; others also run scripts themselves */
	bool has_blocks; /* where it runs scripts, its blocks are judged with its mappings */
	const char *const *functions; /* beginnings of their names: only blocks from these */
};

/* module: a file's path; NULL: it is of no such runtime. */
const struct runtime_objects *runtime_objects_of(const char *module);

/* Returns the objects for which a function of a runtime takes blocks; NULL: it is not known to. */
const struct runtime_objects *runtime_blocks_of(const char *module, const char *symbol);

/* True if a runtime takes blocks for objects of the scripts that it runs. */
bool runtime_has_blocks(const char *module);

#endif
