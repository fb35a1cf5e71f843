/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording up to a moment, which `memleak report` and `memleak diff` read. Says on stderr what
 * failed; does not know what is made of the snapshots.
 */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "options/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

struct replay {
	char *path;
	size_t cnt;        /* snapshots up to the moment, which is the last of them; at least 1 */
	size_t report_cnt; /* those of them that reports were made of */
	struct recording *recording;
};

/* name: FILE or FILE@TIME. 0 or a negative errno. */
int replay_open(const char *name, struct replay *ret);
void replay_deinit(struct replay *replay);

/*
 * Opens what --output says, which empties it: once all recordings are open, as none of them may be
 * the same file.
 */
int replay_open_output(const struct options *opts, const struct replay *const *replays, size_t cnt,
		       struct output *ret);

/* The next snapshot is the first one again. Whoever had its symbols has none any more. */
int replay_rewind(struct replay *replay);

/* The next snapshot, of which there are cnt. */
int replay_next(struct replay *replay, struct snapshot *ret, bool *final);

#endif
