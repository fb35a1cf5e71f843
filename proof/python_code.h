/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lines of CPython's objects: a function has its code, a suspended generator or coroutine
 * has the frame in which it waits, and a class has its methods. Reads objects of CPython 3.11 to
 * 3.14; knows nothing of growth.
 */
#ifndef PROOF_PYTHON_CODE_H
#define PROOF_PYTHON_CODE_H

#include <stdbool.h>

#include "prober/server/python_layout.h"
#include "proof/memory.h"
#include "report/python_growth.h"

enum python_code_kind {
	PYTHON_WITHOUT_CODE,
	PYTHON_FUNCTION,
	PYTHON_SUSPENDED, /* a generator or coroutine */
};

/* Where the code of an object is. */
struct python_code {
	uint64_t addr;     /* address of the code object */
	uint32_t distance; /* offset of the instruction from the code object; 0 for a function */
};

/* Returns where the objects of a class have their code. */
enum python_code_kind python_code_kind_of(const char *class);

/* Finds the code of an object, whose first word_cnt words are given. False if there is none. */
bool python_code_find(const struct python_layout *layout, enum python_code_kind kind,
		      const uint64_t *object, size_t word_cnt, struct python_code *ret);

/*
 * Reads a number that distinguishes the code object at addr from a later one at this address. False
 * if there is no memory at addr, or if a part of the code object is not resident.
 */
bool python_code_cookie(const struct memory *memory, const struct python_layout *layout,
			uint64_t addr, uint32_t *ret);

/* Reads name, file and line. False if the code is gone, or if it is not the program's own. */
bool python_code_place(const struct memory *memory, const struct python_layout *layout,
		       const struct python_code *code, struct python_place *ret);

/*
 * Like python_code_place(), for the first line of a class's __init__, or of its first method if
 * the class has no __init__. type: address of the class.
 */
bool python_class_place(const struct memory *memory, const struct python_layout *layout,
			uint64_t type, struct python_place *ret);

#endif
