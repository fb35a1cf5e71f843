/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sees that a chain of addresses, which others have made, leads back to one that was there before:
 * after at most three times as many steps as there are different ones.
 */
#ifndef PROOF_CHAIN_GUARD_H
#define PROOF_CHAIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Begins as zeros. */
struct chain_guard {
	uint64_t marked; /* an address of the chain, further along each time the steps have doubled
			  */
	uint64_t steps, mark_at;
};

/* To be asked with each address of the chain in turn, none of which is 0. */
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
