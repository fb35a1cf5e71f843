/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the entries of a dictionary in its PyDictKeysObject. The layout of this object is the same
 * in CPython 3.11 to 3.14.
 */
#ifndef PROOF_PYTHON_DICT_H
#define PROOF_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/memory.h"

enum python_keys_kind {
	PYTHON_KEYS_GENERAL,
	PYTHON_KEYS_STRINGS, /* all keys are strings */
	/* keys are strings that several dictionaries share; the values are elsewhere */
	PYTHON_KEYS_SHARED,
	PYTHON_KEYS_KIND_CNT,
};

struct python_keys {
	enum python_keys_kind kind;
	uint64_t cnt; /* number of entries, including deleted ones */
	/* address of the pointer to the first key; the pointer to its value comes next */
	uint64_t first;
	/* distance in bytes between the pointers to two successive keys */
	uint64_t key_bytes;
};

/* Reads the head of a PyDictKeysObject at addr. False if there cannot be such an object. */
bool python_keys_read(const struct memory *memory, uint64_t addr, struct python_keys *ret);

#endif
