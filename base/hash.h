/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes a sequence of 64-bit words, one word per call. hash_word() must never change: the BPF
 * programs have a copy of it, and its results serve as ids of allocation sites.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* Continues a hash with the characters of a text, one word each. `text` may be NULL. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = hash_word(hash, (unsigned char)*text);
	return hash;
}

#endif
