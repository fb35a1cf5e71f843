/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes sequences of words. The BPF programs have a copy of this function, and ids of allocation
 * sites are its results, so the function must never change.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

#endif
