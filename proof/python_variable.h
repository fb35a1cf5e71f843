/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the name of the variable or attribute of a Python script to which a pointer belongs.
 * Variables are found by CPython's layout of a module's dictionary: it has pairs of name and value,
 * and the first name is "__name__". Attributes are found by the layout that CPython 3.11 and 3.12
 * use for objects whose __dict__ was never accessed. In all other dictionaries, only the key of a
 * value is found.
 */
#ifndef PROOF_PYTHON_VARIABLE_H
#define PROOF_PYTHON_VARIABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/memory.h"

#define PYTHON_NAME_BYTES 64

/* Writes "MODULE.VARIABLE". False if the pointer at slot is not the value of a variable. */
bool python_variable(const struct memory *memory, uint64_t slot, char ret[2 * PYTHON_NAME_BYTES]);

/* Writes the dictionary key of the value at slot. False if it has none that is a name. */
bool python_key(const struct memory *memory, uint64_t slot, char ret[PYTHON_NAME_BYTES]);

/*
 * True if the class of an object has this name, which must be shorter than PYTHON_NAME_BYTES - 1
 * bytes.
 */
bool python_is(const struct memory *memory, uint64_t object, const char *class);

/*
 * Writes the qualified name of a function that functools.lru_cache or functools.cache wraps. block:
 * address of the memory block that has the wrapper. False if there is no wrapper.
 */
bool python_cached_function(const struct memory *memory, uint64_t block,
			    char ret[PYTHON_NAME_BYTES]);

/*
 * Writes "CLASS.ATTRIBUTE" for the pointer at slot. values: array of an object's attribute values,
 * which contains slot; holder: address of the pointer to this array, shortly before the object.
 * False if slot is not an attribute's value.
 */
bool python_attribute(const struct memory *memory, uint64_t slot, uint64_t values, uint64_t holder,
		      char ret[2 * PYTHON_NAME_BYTES]);

#endif
