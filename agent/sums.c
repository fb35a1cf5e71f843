// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps one total for all threads, since totals per thread could not all be read at the same
 * moment.
 */
#include "agent/sums.h"

static void raise(__s64 *most, __s64 to)
{
	__s64 seen = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (unlikely(to > seen) &&
	       !__atomic_compare_exchange_n(most, &seen, to, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

void sums_put(struct account *account, uint64_t size)
{
	struct account_sums *sums = &account->sums;
	__s64 total = __atomic_add_fetch(&sums->outstanding, (__s64)size, __ATOMIC_RELAXED);

	raise(&sums->peak, total);
	raise(&sums->highest, total + __atomic_load_n(&sums->mapped, __ATOMIC_RELAXED));
}

void sums_taken(struct account *account, uint64_t size)
{
	__atomic_fetch_sub(&account->sums.outstanding, (__s64)size, __ATOMIC_RELAXED);
}

void sums_allocated(uint64_t size)
{
	struct account_thread *counts = self.counts;

	counts->allocated += size;
	if (size > counts->largest)
		counts->largest = size;
}
