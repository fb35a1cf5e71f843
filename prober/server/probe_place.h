/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instruction of a function that a probe is placed on. The kernel emulates a few
 * instructions and single-steps all others, which needs a second trap and costs several times as
 * much as the rest of a probe. So a probe goes on the first emulated instruction that every call
 * passes once with everything that the probe reads still as at the entry. Works on bytes; knows no
 * files, processes or probes.
 */
#ifndef PROBER_SERVER_PROBE_PLACE_H
#define PROBER_SERVER_PROBE_PLACE_H

#include "prober/server/function.h"

/* The code of a function, as far as it could be read. */
struct function_code {
	uint16_t machine; /* e_machine; only EM_X86_64 is examined */
	const uint8_t *bytes;
	size_t len;
	bool whole;                /* the bytes are exactly the function */
	uint64_t address;          /* address of the first byte, in any address space */
	uint64_t room;             /* offset of the next byte that may be entered from elsewhere */
	unsigned int argument_cnt; /* number of arguments that the probe reads */
};

/* Chooses the place of a probe. Never fails: if in doubt, chooses the entry. */
void probe_place_find(const struct function_code *code, struct probe_place *ret);

/* Describes the instruction at the entry, without looking for a better place. */
void probe_place_at_entry(const struct function_code *code, struct probe_place *ret);

/*
 * Calls visit() with the target of every byte sequence that could be a direct branch with a 32-bit
 * displacement, beginning at any byte. address: address of the first byte.
 */
void probe_place_branches(const uint8_t *bytes, size_t len, uint64_t address,
			  void (*visit)(void *arg, uint64_t target), void *arg);

/* Maximum size, in bytes, of a branch that probe_place_branches() finds. */
#define PROBE_PLACE_BRANCH_MAX 6

#endif
