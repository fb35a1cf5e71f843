/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a recording up to a moment, for `memleak report` and `memleak diff`. Logs errors. Does not
 * know what snapshots are used for.
 */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "options/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

struct replay {
	char *path;
	size_t cnt;        /* number of snapshots up to the requested moment; at least 1 */
	size_t report_cnt; /* number of these snapshots that belong to reports */
	struct recording *recording;
};

/* Opens a recording, given as FILE or FILE@TIME. Returns 0 or a negative errno. */
int replay_open(const char *name, struct replay *ret);
void replay_deinit(struct replay *replay);

/*
 * Opens the file of --output, and truncates it. Must be called after all recordings have been
 * opened, because none of them may be this file.
 */
int replay_open_output(const struct options *opts, const struct replay *const *replays, size_t cnt,
		       struct output *ret);

/* Starts again at the first snapshot. All symbols that came from the recording become invalid. */
int replay_rewind(struct replay *replay);

/* Reads the next snapshot. May be called cnt times after replay_open() or replay_rewind(). */
int replay_next(struct replay *replay, struct snapshot *ret, bool *final);

#endif
