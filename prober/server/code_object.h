/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads code objects of CPython from the memory of a process: the name and source file of a
 * function, and the lines of its instructions. All bytes are hostile input, so sizes are limited.
 */
#ifndef PROBER_SERVER_CODE_OBJECT_H
#define PROBER_SERVER_CODE_OBJECT_H

#include <stddef.h>

#include "prober/server/python_layout.h"

/* Access to the memory of a process. read() returns false unless all bytes can be read. */
struct object_memory {
	bool (*read)(void *arg, uint64_t addr, void *buf, size_t len);
	void *arg;
};

struct code_object {
	char *name; /* qualified name, in UTF-8 */
	char *path; /* source file, in UTF-8 */
	int32_t first_line;
	uint8_t *lines; /* line table: the bytes of co_linetable */
	size_t lines_len;
};

/*
 * Computes the memleak_script_cookie() of the code object at addr. Returns false if the code object
 * cannot be read, or if a part of it is not resident.
 */
bool code_object_cookie(const struct object_memory *memory, const struct python_layout *layout,
			uint64_t addr, uint32_t *ret);

/*
 * Reads the code object at addr. cookie: the memleak_script_cookie() of the expected code object.
 * Returns 0, -ESTALE if the object at addr has another cookie by now, -EFAULT or -ENOMEM.
 */
int code_object_read(const struct object_memory *memory, const struct python_layout *layout,
		     uint64_t addr, uint32_t cookie, struct code_object *ret);
void code_object_deinit(struct code_object *code);

/*
 * Returns the line of an instruction; 0 if the instruction has no line. distance: address of the
 * instruction minus that of the code object, in bytes. If the instruction is before the first one
 * of the code object, returns the function's first line.
 */
uint32_t code_object_line(const struct code_object *code, const struct python_layout *layout,
			  uint32_t distance);

#endif
