/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that somebody begins and ends while memleak runs. */
#ifndef APP_OWN_RECORDING_H
#define APP_OWN_RECORDING_H

#include "options/options.h"
#include "recording/recording.h"

/* Zero: none has begun. */
struct own_recording {
	struct recorder *recorder; /* NULL: none */
	char *name;
	bool wanted; /* somebody wants it to begin or end */
};

/* What such options have a recording hold: enum recording_flag. */
unsigned int recording_flags(const struct options *opts);

/* Before a snapshot: begins or ends it, if that is wanted. Says what it does. */
void own_recording_turn(struct own_recording *own, const struct options *opts);
/* What went wrong with it is no reason to end a run. */
void own_recording_add(struct own_recording *own, const struct snapshot *snap, bool final,
		       struct symbol_backend *symbols, uint64_t deadline_ns);
void own_recording_end(struct own_recording *own);

#endif
