/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of known words the one that somebody who mistyped it has most likely meant. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A search among words that come one by one. Near enough to be worth a question is a third of the
 * letters at most left out, put in, changed or swapped with the next one (the optimal string
 * alignment distance).
 */
struct nearest {
	const char *word;
	size_t len;
	size_t least; /* so many are near, or as many as the nearest one until now has */
};

/* word: so many bytes of it, which must stay. */
struct nearest nearest_begin(const char *word, size_t len);

/* Whether this one is nearer than all before it. */
bool nearest_is(struct nearest *nearest, const char *other);

/* The nearest of cnt words; NULL: none is near enough. NULL entries are none. */
const char *nearest_word(const char *word, size_t len, const char *const *words, size_t cnt);

#endif
