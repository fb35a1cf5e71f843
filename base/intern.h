/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for byte strings: the same string has the same number, counted from 1. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"

/* Zero is a valid empty table. */
struct intern {
	struct hash_map strings; /* by hash: the first of those that have it */
	size_t cnt;
};

/* *fresh: it was not there before. 0: there is no memory, and *fresh is false. */
uint64_t intern_get(struct intern *table, const void *bytes, size_t len, bool *fresh);
bool intern_has(const struct intern *table, const void *bytes, size_t len);
void intern_deinit(struct intern *table);

/* Never 0. */
uint64_t intern_hash(const void *bytes, size_t len);

#endif
