/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of small numbers, one bit each; all zeros: empty. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
	uint64_t *words;
	size_t cap; /* words */
};

/* 0 or -ENOMEM. */
int bits_add(struct bits *bits, size_t number);
bool bits_has(const struct bits *bits, size_t number);
/* Empties the set, and keeps its memory. */
void bits_clear(struct bits *bits);
void bits_deinit(struct bits *bits);

/* The first number that is not below from; SIZE_MAX: there is none. */
size_t bits_next(const struct bits *bits, size_t from);

#endif
