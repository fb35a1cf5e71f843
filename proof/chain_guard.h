/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects cycles in a linked list read from untrusted memory, after at most three times as many
 * steps as the list has nodes.
 */
#ifndef PROOF_CHAIN_GUARD_H
#define PROOF_CHAIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Initialise with zeros. */
struct chain_guard {
	/*
	 * An earlier address of the list, which is compared with each later one; replaced whenever
	 * the number of steps has doubled.
	 */
	uint64_t marked;
	uint64_t steps, mark_at;
};

/*
 * True if the list certainly has a cycle. Call for each address of the list in order. No address
 * may be 0.
 */
static inline bool chain_guard_is_back(struct chain_guard *guard, uint64_t addr)
{
	if (addr == guard->marked)
		return true;
	if (guard->steps++ == guard->mark_at) {
		guard->marked = addr;
		guard->mark_at = 2 * guard->steps;
	}
	return false;
}

#endif
