/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the code at an address, and its unwind rules. */
#ifndef AGENT_MODULES_H
#define AGENT_MODULES_H

#include "agent/agent.h"
#include "bpf/unwind.h"

struct code {
	uint64_t start;
	uint64_t end;
	/* 8 bytes before `end`: an 8-byte read from below stays within the code; 0 if unreadable */
	uint64_t readable_to;
	uint64_t to_frame;     /* address + to_frame is the stack entry, see MEMLEAK_FRAME_FILE */
	uint64_t loaded_start; /* address range of the whole file */
	uint64_t loaded_end;
	bool has_header; /* true if the file's ELF header is at loaded_start */
	bool is_own;     /* true for code of the agent */
	/*
	 * true for the kernel's uretprobe trampoline, which replaces the return address of a probed
	 * function
	 */
	bool is_trampoline;
};

/*
 * Finds the code at an address. False if there is none. May read the program's mappings, which
 * takes about 0.1 ms. *ret_unsure: true if the mappings could not be read, or if the time budget
 * for reading them was used up.
 */
bool modules_find(struct account *account, uint64_t pc, struct code *ret, bool *ret_unsure);

/* Discards the cached list of the program's mappings. */
void modules_forget(void);

/*
 * Returns the unwind rule at pc. If there is none, cfa is UNWIND_CFA_NO_ROW, and saved_off is 1 if
 * the word at pc can be read, else 0.
 */
struct unwind_rule modules_rule(const struct code *code, uint64_t pc);

#endif
