/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the snapshots of a recording up to a requested time, for `memleak report` and `memleak
 * diff`. Logs errors. Does not know what snapshots are used for.
 */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "options/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

struct replay {
	char *path;
	size_t cnt;        /* number of snapshots up to the requested time; at least 1 */
	size_t report_cnt; /* how many of these snapshots belong to reports */
	struct recording *recording;
};

/* Opens a recording, given as FILE or FILE@TIME. Returns 0 or a negative errno. */
int replay_open(const char *name, struct replay *ret);
void replay_deinit(struct replay *replay);

/*
 * Opens the file of --output, and truncates it. Must be called after all recordings have been
 * opened: fails if one of them is this file. Returns 0 or a negative errno; logs errors.
 */
int replay_open_output(const struct options *opts, const struct replay *const *replays, size_t cnt,
		       struct output *ret);

/*
 * Begins again at the first snapshot. Symbols that came from the recording become invalid. Returns
 * 0 or a negative errno.
 */
int replay_rewind(struct replay *replay);

/*
 * Reads the next snapshot. After replay_open() or replay_rewind(), may be called `cnt` times.
 * Returns 0 or -EIO.
 */
int replay_next(struct replay *replay, struct snapshot *ret, bool *final);

#endif
