/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done with recordings: `memleak report` and `memleak diff`. Needs neither root nor BPF.
 * Says on stderr what failed.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "loader/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

/* A recording up to a moment. */
struct replay {
	char *path;
	size_t cnt; /* snapshots up to the moment, which is the last of them; at least 1 */
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

/* The next snapshot, of which there are cnt. */
int replay_next(struct replay *replay, struct snapshot *ret, bool *final);

/* These open the output. */
int replay_report(const struct options *opts, struct output *out, bool *ret_outstanding);
int replay_diff(const struct options *opts, struct output *out);

#endif
