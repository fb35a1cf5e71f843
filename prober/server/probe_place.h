/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instruction of a function on which a probe is placed. The kernel emulates a few
 * instructions and single-steps all others, which needs a second trap and costs several times as
 * much as the rest of a probe. So the probe is placed on the first emulated instruction, provided
 * that every call executes it exactly once, and that everything that the probe reads is unchanged
 * since the function's entry. Works on bytes; knows no files, processes or probes.
 */
#ifndef PROBER_SERVER_PROBE_PLACE_H
#define PROBER_SERVER_PROBE_PLACE_H

#include "prober/server/function.h"

/* The code of a function, or the part that could be read. */
struct function_code {
	uint16_t machine; /* e_machine; places are searched only for EM_X86_64 */
	const uint8_t *bytes;
	size_t len;
	bool whole; /* `bytes` is the whole function, and nothing else */
	/* address of the first byte; only differences between addresses matter */
	uint64_t address;
	/* offset of the next symbol: the place is before it, since code may jump to any symbol */
	uint64_t room;
	unsigned int argument_cnt; /* number of arguments that the probe reads */
};

/* Chooses the place of a probe. Never fails: if in doubt, chooses the function's entry. */
void probe_place_find(const struct function_code *code, struct probe_place *ret);

/* Chooses the entry as the place of a probe, and describes the instruction there. */
void probe_place_at_entry(const struct function_code *code, struct probe_place *ret);

/*
 * Calls visit() with the target of each byte sequence that may be a direct branch with a 32-bit
 * displacement. Such a sequence may begin at any byte. address: address of the first byte.
 */
void probe_place_branches(const uint8_t *bytes, size_t len, uint64_t address,
			  void (*visit)(void *arg, uint64_t target), void *arg);

/* Maximum size, in bytes, of a branch that probe_place_branches() may find. */
#define PROBE_PLACE_BRANCH_MAX 6

#endif
