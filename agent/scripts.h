/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the frames of scripts, which CPython keeps in memory, like
 * bpf/user_probes/script_frames.bpf.h. CPython must be the program, or a library that the program
 * is linked with.
 */
#ifndef AGENT_SCRIPTS_H
#define AGENT_SCRIPTS_H

#include "agent/agent.h"
#include "agent/readable.h"
#include "bpf/script.h"

/* True if the program has a CPython whose frames can be read. */
extern bool scripts_known __attribute__((visibility("hidden")));

/* Looks for CPython. */
void scripts_load(void);

/* Returns an address in the code of CPython, 0 if frames are not read. */
uint64_t scripts_interpreter(void);

/* The script frames of the calling thread, as they are read. */
struct script_walk {
	struct account *account;
	struct readable *readable;
	uint64_t frame; /* address of the next frame, 0 if there is none */
	uint32_t cnt;
	bool lacks_code; /* there was no room for the copy of a code object */
	uint64_t words[MEMLEAK_SCRIPT_FRAMES_MAX];
	struct readable checked; /* pages that this walk has found readable */
};

/*
 * Returns the number of the stack that consists of the calling thread's script frames and of the
 * stack `native`, which it adds to the account if needed. Returns `native` if there are no script
 * frames, or no room. walk: memory for this call, too large for a small stack.
 *
 * readable: pages that the thread's calls have found readable. NULL if the caller may be a signal
 * handler, which may have interrupted a change of the frames. Otherwise, the data of the thread's
 * frames stays mapped while the frames exist.
 */
uint32_t scripts_find(struct account *account, uint32_t native, struct script_walk *walk,
		      struct readable *readable);

/* Must be called after the program has unmapped memory: discards what was found readable. */
void scripts_unmapped(void);

#endif
