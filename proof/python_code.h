/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the source lines that belong to objects of CPython. A function has its code; a suspended
 * generator or coroutine has the frame in which it is suspended; and a class has the code of its
 * methods. Reads objects of CPython 3.11 to 3.14. Does not know which classes grow.
 */
#ifndef PROOF_PYTHON_CODE_H
#define PROOF_PYTHON_CODE_H

#include <stdbool.h>

#include "options/options.h"
#include "prober/server/python_layout.h"
#include "proof/memory.h"
#include "report/python_growth.h"

enum python_code_kind {
	PYTHON_WITHOUT_CODE,
	PYTHON_FUNCTION,
	PYTHON_SUSPENDED, /* a suspended generator or coroutine */
};

/* The code that belongs to an object. */
struct python_code {
	uint64_t addr; /* address of the code object */
	/*
	 * distance in bytes from the code object to the instruction where the object is suspended;
	 * 0 for a function
	 */
	uint32_t distance;
};

/* Returns the kind of code of this class's objects. */
enum python_code_kind python_code_kind_of(const char *class);

/*
 * Finds the code of an object. object: its first word_cnt words. False if the object has no code,
 * if the code is beyond these words, or if `layout` is NULL.
 */
bool python_code_find(const struct python_layout *layout, enum python_code_kind kind,
		      const uint64_t *object, size_t word_cnt, struct python_code *ret);

/*
 * Reads a number that distinguishes the code object at addr from any later one at this address.
 * False if there is no memory at addr, or if a part of the code object is not resident.
 */
bool python_code_cookie(const struct memory *memory, const struct python_layout *layout,
			uint64_t addr, uint32_t *ret);

/*
 * Reads the function name, file and line. opts: as for script_is_of_program(). False if the code
 * object is gone, or if it is not the
 * program's own code.
 */
bool python_code_place(const struct memory *memory, const struct options *opts,
		       const struct python_layout *layout, const struct python_code *code,
		       struct python_place *ret);

/*
 * Like python_code_place(), for the first line of a class's __init__ method, or of its first method
 * if it has no __init__. type: address of the class's type object.
 */
bool python_class_place(const struct memory *memory, const struct options *opts,
			const struct python_layout *layout, uint64_t type,
			struct python_place *ret);

#endif
