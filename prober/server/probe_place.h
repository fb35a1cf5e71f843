/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instruction of a function on which a probe is placed. If a probe is hit, the kernel
 * emulates a few kinds of instructions and single-steps all others. Single-stepping needs a second
 * trap and costs several times as much as the rest of a probe. So the probe is placed on the first
 * instruction that the kernel emulates, provided that every call executes it exactly once, and that
 * everything that the probe reads is unchanged since the function's entry. Works on bytes; knows no
 * files, processes or probes.
 */
#ifndef PROBER_SERVER_PROBE_PLACE_H
#define PROBER_SERVER_PROBE_PLACE_H

#include "prober/server/function.h"

/* The code of a function, or the part of it that was read. */
struct function_code {
	uint16_t machine; /* e_machine of the file; if it is not EM_X86_64, the entry is chosen */
	const uint8_t *bytes;
	size_t len;
	bool whole; /* true if `bytes` is exactly the whole function; if not, the entry is chosen */
	/* address of the first byte, or its file offset: only differences matter */
	uint64_t address;
	/* offset of the next symbol: the probe is placed before it, since code may jump to it */
	uint64_t room;
	unsigned int argument_cnt; /* number of arguments that the probe reads */
};

/* Chooses the place of a probe. Never fails: if in doubt, chooses the function's entry. */
void probe_place_find(const struct function_code *code, struct probe_place *ret);

/* Chooses the entry as the place of a probe, and describes the instruction there. */
void probe_place_at_entry(const struct function_code *code, struct probe_place *ret);

/*
 * Calls visit() for each byte sequence that looks like a direct jump or call with a 32-bit
 * displacement, with its target. Such a sequence may begin at any byte. address: address of the
 * first byte.
 */
void probe_place_branches(const uint8_t *bytes, size_t len, uint64_t address,
			  void (*visit)(void *arg, uint64_t target), void *arg);

/* Maximum length, in bytes, of a sequence that probe_place_branches() finds. */
#define PROBE_PLACE_BRANCH_MAX 6

#endif
