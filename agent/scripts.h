/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads script frames from the memory of CPython, as bpf/user_probes/script_frames.bpf.h does.
 * CPython must be the program, or a library that the program is linked with.
 */
#ifndef AGENT_SCRIPTS_H
#define AGENT_SCRIPTS_H

#include "agent/agent.h"
#include "agent/readable.h"
#include "bpf/script.h"

/* True if the program has a CPython whose frames can be read. */
extern bool scripts_known __attribute__((visibility("hidden")));

/* Sets scripts_known if the program has a CPython whose frames can be read. */
void scripts_load(void);

/* Returns an address in the code of CPython, 0 if script frames are not read. */
uint64_t scripts_interpreter(void);

/* State of reading the script frames of the calling thread. */
struct script_walk {
	struct account *account;
	struct readable *readable;
	uint64_t frame; /* address of the next frame, 0 if there is none */
	uint32_t cnt;
	bool lacks_code; /* true if there was no room for the copy of a code object */
	uint64_t words[MEMLEAK_SCRIPT_FRAMES_MAX];
	/* pages found readable by this walk, if the caller passes no `readable` */
	struct readable checked;
};

/*
 * Returns the number of the stack that consists of the calling thread's script frames and of the
 * stack `native`. Adds this stack to the account if needed. Returns `native` if there are no script
 * frames, or no room. walk: working memory, for which a small stack has no room.
 *
 * readable: pages that earlier calls of this thread have found readable. NULL if the caller may be
 * a signal handler, which may have interrupted a change of the frames: then this call checks each
 * page. Other callers can rely on earlier checks, because frames stay mapped while they exist.
 */
uint32_t scripts_find(struct account *account, uint32_t native, struct script_walk *walk,
		      struct readable *readable);

/* Discards all cached readable pages. Called after the program has unmapped memory. */
void scripts_unmapped(void);

#endif
