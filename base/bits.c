// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the set as an array of 64-bit words, which grows with the largest number. */
#include "base/bits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64

static int grow(struct bits *bits, size_t cnt)
{
	size_t cap = bits->cap ? bits->cap : 1;
	uint64_t *words;

	while (cap < cnt)
		cap *= 2;
	words = reallocarray(bits->words, cap, sizeof(*words));
	if (!words)
		return -ENOMEM;
	memset(words + bits->cap, 0, (cap - bits->cap) * sizeof(*words));
	bits->words = words;
	bits->cap = cap;
	return 0;
}

int bits_add(struct bits *bits, size_t number)
{
	size_t word = number / WORD_BITS;

	if (word >= bits->cap && grow(bits, word + 1))
		return -ENOMEM;
	bits->words[word] |= UINT64_C(1) << number % WORD_BITS;
	return 0;
}

bool bits_has(const struct bits *bits, size_t number)
{
	size_t word = number / WORD_BITS;

	return word < bits->cap && bits->words[word] >> number % WORD_BITS & 1;
}

void bits_clear(struct bits *bits)
{
	if (bits->words)
		memset(bits->words, 0, bits->cap * sizeof(*bits->words));
}

void bits_deinit(struct bits *bits)
{
	free(bits->words);
	*bits = (struct bits){0};
}

size_t bits_next(const struct bits *bits, size_t from)
{
	for (size_t word = from / WORD_BITS; word < bits->cap; word++) {
		uint64_t rest = bits->words[word];

		if (word == from / WORD_BITS)
			rest &= ~UINT64_C(0) << from % WORD_BITS;
		if (rest)
			return word * WORD_BITS + (size_t)__builtin_ctzll(rest);
	}
	return SIZE_MAX;
}
