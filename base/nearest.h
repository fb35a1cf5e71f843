/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests, for a mistyped word, the known word that was probably meant. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A search for the known word that is nearest to a mistyped one. Words are near if at most a third
 * of the letters are missing, added, changed or swapped with the next letter (optimal string
 * alignment distance).
 */
struct nearest {
	const char *word;
	size_t len;
	/*
	 * the next word must have a smaller distance than this: at first the limit for near words,
	 * later the distance of the nearest word so far
	 */
	size_t least;
};

/* Begins a search for `word` of len bytes, which must stay valid. */
struct nearest nearest_begin(const char *word, size_t len);

/* True if `other` is near, and nearer than the words of all earlier calls. */
bool nearest_is(struct nearest *nearest, const char *other);

/*
 * Returns the word of `words` that is nearest to `word`; NULL if none is near. Skips NULL entries.
 */
const char *nearest_word(const char *word, size_t len, const char *const *words, size_t cnt);

#endif
