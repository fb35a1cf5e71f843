/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runtimes of languages keep their memory for, and how to learn more than memleak can tell. */
#ifndef REPORT_RUNTIME_OBJECTS_H
#define REPORT_RUNTIME_OBJECTS_H

struct runtime_objects {
	const char *interpreter;  /* its name without a version */
	const char *words;        /* "python objects" */
	const char *advice;       /* how to find out which ones grow */
	const char *block_advice; /* the same where each has a block of its own */
};

/* module: a file's path; NULL: it is of no such runtime. */
const struct runtime_objects *runtime_objects_of(const char *module);

#endif
