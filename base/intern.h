/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assigns numbers to byte strings: equal strings get equal numbers, counted from 1. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

/* A table of strings. A zeroed struct is a valid empty table. */
struct intern {
	struct hash_map strings; /* maps a hash to the list of strings with this hash */
	size_t cnt;
};

/*
 * Returns the number of a string, and adds the string if needed; *fresh is true if it was added. If
 * out of memory, returns 0 and sets *fresh to false.
 */
uint64_t intern_get(struct intern *table, const void *bytes, size_t len, bool *fresh);
bool intern_has(const struct intern *table, const void *bytes, size_t len);
void intern_deinit(struct intern *table);

/* Hashes a byte string. Never returns 0. */
uint64_t intern_hash(const void *bytes, size_t len);

#endif
