/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording up to a moment, for `memleak report` and `memleak diff`. Logs errors; does not
 * know how snapshots are used.
 */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "options/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

struct replay {
	char *path;
	size_t cnt;        /* snapshots up to and including the moment; at least 1 */
	size_t report_cnt; /* snapshots of cnt that belong to reports */
	struct recording *recording;
};

/* Opens a recording by FILE or FILE@TIME. Returns 0 or a negative errno. */
int replay_open(const char *name, struct replay *ret);
void replay_deinit(struct replay *replay);

/*
 * Opens and truncates the file of --output. Called when all recordings are open, because none of
 * them may be this file.
 */
int replay_open_output(const struct options *opts, const struct replay *const *replays, size_t cnt,
		       struct output *ret);

/* Restarts at the first snapshot. Symbols taken from the recording become invalid. */
int replay_rewind(struct replay *replay);

/* Reads the next snapshot; may be called cnt times. */
int replay_next(struct replay *replay, struct snapshot *ret, bool *final);

#endif
