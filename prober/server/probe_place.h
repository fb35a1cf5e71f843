/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instruction of a function that a probe sits on. The kernel emulates a few
 * instructions and single-steps all others, which takes a second trap and costs several times as
 * much as everything else that a probe does. So a probe goes to the first emulated instruction of
 * the function, if there everything that it reads is as it was at the entry and every call passes
 * it once. Bytes in, an offset out: knows no files, no processes and no probes.
 */
#ifndef PROBER_SERVER_PROBE_PLACE_H
#define PROBER_SERVER_PROBE_PLACE_H

#include "prober/server/function.h"

/* The code of a function, as far as it could be read. */
struct function_code {
	uint16_t machine; /* EM_X86_64 or another */
	const uint8_t *bytes;
	size_t len;
	bool whole;       /* the bytes are the whole function and nothing else */
	uint64_t address; /* of the first byte, in any space that branches are relative to */
	uint64_t room;    /* offset of the next byte that may be entered from elsewhere */
	unsigned int argument_cnt; /* how many of its arguments are read by the probe */
};

/* Never fails: in doubt it is the entry. */
void probe_place_find(const struct function_code *code, struct probe_place *ret);

/* The entry, whatever else there may be. */
void probe_place_at_entry(const struct function_code *code, struct probe_place *ret);

/*
 * For each direct branch with a 32-bit displacement that the bytes could be the encoding of,
 * beginning anywhere in them: calls visit with its target. The bytes are those at address.
 */
void probe_place_branches(const uint8_t *bytes, size_t len, uint64_t address,
			  void (*visit)(void *arg, uint64_t target), void *arg);

/* How many bytes a branch is that probe_place_branches finds, at most. */
#define PROBE_PLACE_BRANCH_MAX 6

#endif
