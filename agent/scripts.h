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

/* True if the program has a CPython whose frames can be read. */
extern bool scripts_known __attribute__((visibility("hidden")));

/* Looks for CPython. */
void scripts_load(void);

/* Returns an address in the code of CPython, 0 if frames are not read. */
uint64_t scripts_interpreter(void);

/*
 * Returns the number of the stack that consists of the calling thread's script frames and of the
 * stack `native`, which it adds to the account if needed. Returns `native` if there are no script
 * frames, or no room.
 *
 * readable: pages that the thread's calls have found readable. NULL if the caller may be a signal
 * handler, which may have interrupted a change of the frames. Otherwise, the data of the thread's
 * frames stays mapped while the frames exist.
 */
uint32_t scripts_find(struct account *account, uint32_t native, struct readable *readable);

/* Must be called after the program has unmapped memory: discards what was found readable. */
void scripts_unmapped(void);

#endif
