// SPDX-License-Identifier: GPL-2.0-or-later
/* A random number generator that gives the same numbers in every run: splitmix64. */
#include "tests/unit/lib/random.h"

uint64_t random_next(uint64_t *seed)
{
	uint64_t bits = *seed += 0x9e3779b97f4a7c15ULL;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
	return bits ^ bits >> 31;
}
