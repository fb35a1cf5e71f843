// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the distance between words by dynamic programming, with three rows of the table in
 * memory.
 */
#include "base/nearest.h"

#include <string.h>

/* Maximum length of a word; longer words never match. */
#define WORD_MOST 40

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][WORD_MOST + 1];

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min(min(above[j], row[j - 1]) + 1,
				     above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], two[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

struct nearest nearest_begin(const char *word, size_t len)
{
	return (struct nearest){word, len, len / 3 + 1};
}

bool nearest_is(struct nearest *nearest, const char *other)
{
	size_t len = strnlen(other, WORD_MOST + 1), far;

	if (nearest->len > WORD_MOST || len > WORD_MOST || len >= nearest->len + nearest->least ||
	    nearest->len >= len + nearest->least)
		return false;
	far = distance(nearest->word, nearest->len, other, len);
	if (far >= nearest->least)
		return false;
	nearest->least = far;
	return true;
}

const char *nearest_word(const char *word, size_t len, const char *const *words, size_t cnt)
{
	struct nearest nearest = nearest_begin(word, len);
	const char *ret = NULL;

	for (size_t i = 0; i < cnt; i++)
		if (words[i] && nearest_is(&nearest, words[i]))
			ret = words[i];
	return ret;
}
