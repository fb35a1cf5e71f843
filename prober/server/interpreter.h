/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds CPython in a file: its version, its state and its evaluation loop. */
#ifndef PROBER_SERVER_INTERPRETER_H
#define PROBER_SERVER_INTERPRETER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Number of parts of the evaluation loop: the function, and the code that compilers move out of it.
 */
#define LOOP_PARTS 2

struct loop_part {
	uint64_t start; /* file offset */
	uint64_t end;
};

struct interpreter {
	uint32_t version;      /* version in the format of Py_Version: 0x030b02f0 for 3.11.2 */
	bool is_free_threaded; /* frames of such builds differ; always false before 3.13 */
	/*
	 * Distance of _PyRuntime from the address (start - offset), where `start` and `offset` are
	 * those of the mapping that contains the evaluation loop (struct mapping).
	 */
	uint64_t runtime;
	struct loop_part loop[LOOP_PARTS]; /* parts of the evaluation loop; unused ones are empty */
};

/* Returns 0, or -ENOEXEC if the file has no CPython of version 3.11 or later. */
int interpreter_find(int fd, struct interpreter *ret);

#endif
