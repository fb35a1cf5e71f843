/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fake memory of another process: 64-bit words at made-up addresses, and an unreadable hole. */
#ifndef TESTS_UNIT_PROOF_FAKE_MEMORY_H
#define TESTS_UNIT_PROOF_FAKE_MEMORY_H

#include "proof/memory.h"

struct fake_memory {
	struct memory memory;
	uint64_t base; /* address of the first word, a multiple of 4096 */
	uint64_t *words;
	size_t cnt;
	uint64_t hole_start; /* start of an unreadable range */
	uint64_t hole_end;
	size_t reads;
	int err; /* negative errno that all reads return; 0: reads succeed */
};

void fake_memory_init(struct fake_memory *fake, uint64_t base, size_t word_cnt);
void fake_memory_deinit(struct fake_memory *fake);

/* Returns a pointer to the word at `addr` of the fake process. */
uint64_t *fake_memory_at(struct fake_memory *fake, uint64_t addr);

#endif
