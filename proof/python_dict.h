/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the entries of a dictionary by the object with its keys (PyDictKeysObject), which CPython
 * 3.11 to 3.14 lay out the same.
 */
#ifndef PROOF_PYTHON_DICT_H
#define PROOF_PYTHON_DICT_H

#include <stdbool.h>
#include <stdint.h>

#include "proof/memory.h"

enum python_keys_kind {
	PYTHON_KEYS_GENERAL,
	PYTHON_KEYS_STRINGS, /* all keys are strings */
	PYTHON_KEYS_SHARED,  /* strings that several dictionaries share: values are elsewhere */
	PYTHON_KEYS_KIND_CNT,
};

struct python_keys {
	enum python_keys_kind kind;
	uint64_t cnt;   /* number of entries, including deleted ones */
	uint64_t first; /* address of the first pointer to a key; a pointer to a value follows */
	uint64_t key_bytes; /* distance from one key to the next */
};

/* Reads the head of the object at addr. Returns false if it cannot be one with keys. */
bool python_keys_read(const struct memory *memory, uint64_t addr, struct python_keys *ret);

#endif
