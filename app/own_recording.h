/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles a recording that the user starts and stops while memleak runs. */
#ifndef APP_OWN_RECORDING_H
#define APP_OWN_RECORDING_H

#include "options/options.h"
#include "recording/recording.h"

/* Must be zero-initialised. */
struct own_recording {
	struct recorder *recorder; /* writer of the recording, or NULL */
	char *name;
	bool wanted; /* true if the user has requested to start or stop it */
};

/*
 * Returns the facts about a run that begins now. They are stored in snapshots and recordings,
 * because verdicts depend on them. Call this after limited_calls_begin(): a process may be waiting
 * in exec.
 */
struct run_facts run_facts_now(const struct options *opts);

/* Returns the flags (enum recording_flag) of a recording with these options. */
unsigned int recording_flags(const struct options *opts, const struct run_facts *facts);

/*
 * If the user has requested it, starts or stops the recording, and logs this. Must be called before
 * each snapshot.
 */
void own_recording_toggle(struct own_recording *own, const struct options *opts,
			  const struct run_facts *facts);
/*
 * Adds a snapshot to the recording, if there is one. After an error, stops the recording, but not
 * the run.
 */
void own_recording_add(struct own_recording *own, const struct snapshot *snap, bool final,
		       struct symbol_backend *symbols, uint64_t deadline_ns);
void own_recording_end(struct own_recording *own);

#endif
