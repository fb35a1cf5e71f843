/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a number that makes up more than half of a stream of numbers, in little memory. */
#ifndef BASE_MAJORITY_H
#define BASE_MAJORITY_H

#include <stddef.h>
#include <stdint.h>

/* Number of counters. A zeroed struct majority is valid: an empty stream. */
#define MAJORITY_COUNTERS 4

struct majority {
	uint32_t cnt; /* count of numbers in the stream */
	uint32_t numbers[MAJORITY_COUNTERS];
	/* counts[i]: number of occurrences of numbers[i]; may be too low, by at most cnt / 5 */
	uint32_t counts[MAJORITY_COUNTERS];
};

void majority_add(struct majority *majority, uint32_t number);

/*
 * Returns the number that certainly makes up more than half of the stream; 0 if there is none, or
 * if that is not certain.
 */
uint32_t majority_number(const struct majority *majority);

#endif
