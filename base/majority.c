// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the algorithm of Misra and Gries (1982): a number that finds no free counter
 * decrements all counters.
 */
#include "base/majority.h"

void majority_add(struct majority *majority, uint32_t number)
{
	uint32_t *unused = NULL;

	majority->cnt++;
	for (int i = 0; i < MAJORITY_COUNTERS; i++) {
		if (majority->counts[i] && majority->numbers[i] == number) {
			majority->counts[i]++;
			return;
		}
		if (!majority->counts[i])
			unused = &majority->counts[i];
	}
	if (unused) {
		*unused = 1;
		majority->numbers[unused - majority->counts] = number;
		return;
	}
	for (int i = 0; i < MAJORITY_COUNTERS; i++)
		majority->counts[i]--;
}

uint32_t majority_number(const struct majority *majority)
{
	for (int i = 0; i < MAJORITY_COUNTERS; i++)
		if (majority->counts[i] > majority->cnt / 2)
			return majority->numbers[i];
	return 0;
}
