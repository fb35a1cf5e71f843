// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws samples in the same way as the BPF programs do, and counts the recorded blocks by hash of
 * their addresses. A signal handler may draw a sample while its thread is drawing one: as the
 * exponential distribution is memoryless, the result is still correct.
 */
#include "agent/samples.h"

#include "bpf/exponential.h"

#define FULL 255U /* maximum of a counter; a counter that reaches it keeps this value */

/* SplitMix64. */
static uint64_t random_bits(void)
{
	uint64_t bits = self.random += 0x9e3779b97f4a7c15ULL;

	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
	return bits ^ bits >> 31;
}

bool samples_choose_slowly(const struct account *account, uint64_t size)
{
	uint64_t rate = __atomic_load_n(&account->sample_rate, __ATOMIC_RELAXED);
	__u64 left = self.countdown;
	bool chosen;

	if (rate)
		return !multiply_high(random_bits(), rate);
	if (!left)
		left = exponential_draw(random_bits(), account->sample_bytes);
	chosen = countdown__ends(&left, size);
	self.countdown = left;
	return chosen;
}

static void count(uint64_t addr, int by)
{
	uint8_t *place = samples_place(addr), seen = __atomic_load_n(place, __ATOMIC_RELAXED);

	while (seen != FULL &&
	       !__atomic_compare_exchange_n(place, &seen, (uint8_t)(seen + by), true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void samples_put(uint64_t addr)
{
	count(addr, 1);
}

void samples_taken(uint64_t addr)
{
	count(addr, -1);
}
