/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of small numbers, stored as a bitmap. A zeroed set is valid and empty. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
	uint64_t *words;
	size_t cap; /* number of allocated 64-bit words */
};

/* Adds a number to the set. Returns 0 or -ENOMEM. */
int bits_add(struct bits *bits, size_t number);
bool bits_has(const struct bits *bits, size_t number);
/* Empties the set, but keeps its memory for later numbers. */
void bits_clear(struct bits *bits);
void bits_deinit(struct bits *bits);

/* Returns the smallest number in the set that is at least `from`; SIZE_MAX if there is none. */
size_t bits_next(const struct bits *bits, size_t from);

#endif
