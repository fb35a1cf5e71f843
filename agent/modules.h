/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code is where in the program, and what it says of its frames. */
#ifndef AGENT_MODULES_H
#define AGENT_MODULES_H

#include "agent/agent.h"
#include "bpf/unwind.h"

struct code {
	uint64_t start;
	uint64_t end;
	uint64_t readable_to; /* before it, a word of it can be read; 0: it cannot be read at all */
	uint64_t to_frame;    /* added to an address it gives a frame: a place in a file */
	uint64_t frame_hdr;   /* the address of .eh_frame_hdr; 0: there is none */
	uint64_t loaded_start; /* of the file's memory, within which that lies */
	uint64_t loaded_end;
	bool is_own;        /* the agent's */
	bool is_trampoline; /* what the kernel has calls return to, in the place of where they did
			     */
};

/*
 * The code at an address; NULL: none is known. May read what the program has mapped, which takes
 * a tenth of a millisecond; *ret_unsure: it did not, as it has done so just now.
 */
const struct code *modules_find(struct account *account, uint64_t pc, bool *ret_unsure);

/* What was read of the program's mappings is void. */
void modules_forget(void);

/*
 * The rule of the instruction at pc in that code. UNWIND_CFA_NO_ROW: there is none; saved_off is
 * then 1 if the code behind pc can be read, or else 0.
 */
struct unwind_rule modules_rule(const struct code *code, uint64_t pc);

#endif
