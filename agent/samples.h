/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the blocks to record if --sample-bytes or --sample-rate is given, and quickly skips frees
 * of all other blocks.
 */
#ifndef AGENT_SAMPLES_H
#define AGENT_SAMPLES_H

#include "agent/agent.h"

/*
 * Number of bits in a filter index, so the filter has 64 KiB. A larger filter would not fit into
 * the CPU's fastest caches; checking it would then be no faster than looking for the block's cell.
 */
#define SAMPLES_FILTER_BITS 16
#define SAMPLES_FILTER_BYTES (1U << SAMPLES_FILTER_BITS)
_Static_assert(SAMPLES_FILTER_BYTES == ACCOUNT_FILTER_BYTES, "the region is as large");

bool samples_choose_slowly(const struct account *account, uint64_t size);

/*
 * Adds a block to the filter when it is stored in a cell, or removes it from the filter when it is
 * removed from its cell.
 */
void samples_put(uint64_t addr);
void samples_taken(uint64_t addr);

/*
 * Subtracts the size of a block from the bytes until the next sample, as countdown__ends() of
 * bpf/exponential.h does. Returns false, and subtracts nothing, if the next sample is in the block.
 */
static ALWAYS_INLINE bool samples_pass_over(uint64_t size)
{
	uint64_t counted = size + !size;

	if (unlikely(counted >= self.countdown))
		return false;
	self.countdown -= counted;
	return true;
}

static ALWAYS_INLINE bool samples_choose(const struct account *account, uint64_t size)
{
	return !samples_pass_over(size) && samples_choose_slowly(account, size);
}

static inline uint8_t *samples_place(uint64_t addr)
{
	return &gate.filter[addr * 0x9e3779b97f4a7c15ULL >> (64 - SAMPLES_FILTER_BITS)];
}

/* Returns false only if the address is certainly in no cell. */
static inline bool samples_may_have(uint64_t addr)
{
	return __atomic_load_n(samples_place(addr), __ATOMIC_RELAXED);
}

#endif
