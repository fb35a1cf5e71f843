/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the number that most of a stream of numbers are equal to, in little memory. */
#ifndef BASE_MAJORITY_H
#define BASE_MAJORITY_H

#include <stddef.h>
#include <stdint.h>

/* The counters of Misra and Gries (1982). All 0 is an empty stream. */
#define MAJORITY_COUNTERS 4

struct majority {
	uint32_t cnt; /* numbers in the stream */
	uint32_t numbers[MAJORITY_COUNTERS];
	uint32_t counts[MAJORITY_COUNTERS]; /* lower bounds, short of it by cnt / 5 at most */
};

void majority_add(struct majority *majority, uint32_t number);

/* Returns the number that certainly is more than half of the stream; 0: none is, or it may not be.
 */
uint32_t majority_number(const struct majority *majority);

#endif
