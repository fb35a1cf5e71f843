/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the known word that was most likely meant by a mistyped one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A search over words. A word is near if at most a third of the letters are missing, added, changed
 * or swapped with the next letter (optimal string alignment distance).
 */
struct nearest {
	const char *word;
	size_t len;
	/*
	 * distances below this are near; the distance of the nearest word so far, once there is one
	 */
	size_t least;
};

/* Begins a search. word: len bytes, which must stay valid. */
struct nearest nearest_begin(const char *word, size_t len);

/* True if this word is nearer than all words before it. */
bool nearest_is(struct nearest *nearest, const char *other);

/* Returns the nearest of cnt words; NULL if none is near. NULL entries are skipped. */
const char *nearest_word(const char *word, size_t len, const char *const *words, size_t cnt);

#endif
