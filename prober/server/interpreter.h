/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds CPython in a file: its version, its global state (_PyRuntime) and its evaluation loop. */
#ifndef PROBER_SERVER_INTERPRETER_H
#define PROBER_SERVER_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Number of parts of the evaluation loop: the function _PyEval_EvalFrameDefault(), and the cold
 * code that compilers move out of it.
 */
#define LOOP_PARTS 2

struct loop_part {
	uint64_t start; /* `start` and `end` (exclusive) are file offsets */
	uint64_t end;
};

struct interpreter {
	uint32_t version; /* in the format of Py_Version: 0x030b02f0 for 3.11.2 */
	/* true for a free-threaded build, whose frames differ; always false before 3.13 */
	bool is_free_threaded;
	/*
	 * Relative address of _PyRuntime. In a process, _PyRuntime is at start - offset + runtime,
	 * where `start` and `offset` are those of the mapping that contains the evaluation loop
	 * (struct mapping).
	 */
	uint64_t runtime;
	uint64_t free_code; /* file offset of the function that frees code objects; 0 if unknown */
	/* parts of the evaluation loop; a part that does not exist is empty */
	struct loop_part loop[LOOP_PARTS];
};

/* Returns 0, or -ENOEXEC if the file does not contain CPython 3.11 or later. */
int interpreter_find(int fd, struct interpreter *ret);

#endif
