/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variable of a python module that a pointer belongs to, by how CPython lays out the dictionary
 * of a module: pairs of name and value, of which "__name__" is the first; or the attribute, by how
 * CPython 3.11 and 3.12 have those of objects whose dictionary nobody has asked for. Nothing else
 * of python is known here; a pointer that is no such value has no name.
 */
#ifndef PROOF_PYTHON_VARIABLE_H
#define PROOF_PYTHON_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/memory.h"

#define PYTHON_NAME_BYTES 64

/* "MODULE.VARIABLE". False: the pointer at slot is no value of a variable. */
bool python_variable(const struct memory *memory, uint64_t slot, char ret[2 * PYTHON_NAME_BYTES]);

/*
 * "CLASS.ATTRIBUTE", of the pointer at slot in an array that begins at values, to which the word at
 * holder points.
 */
bool python_attribute(const struct memory *memory, uint64_t slot, uint64_t values, uint64_t holder,
		      char ret[2 * PYTHON_NAME_BYTES]);

#endif
