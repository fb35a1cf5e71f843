/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which reports have a proof, and logs the progress of proofs. */
#ifndef APP_PROVER_H
#define APP_PROVER_H

#include <stdbool.h>

#include "loader/source.h"
#include "options/options.h"
#include "proof/proof.h"

struct child;

struct prover {
	const struct options *opts;
	struct proof *proof; /* NULL if no proof is wanted */
	uint64_t reports;    /* reports since the last one with a proof */
	bool begun;          /* pictures have been taken for the next proof */
	unsigned int wanted; /* number of next reports with a proof, even without --prove */
	uint64_t told_ns;    /* when the next progress message is due */
	pid_t watched; /* pid of the command, which is paused at its end; 0 if none is watched */
};

/* Initialises the prover. Returns 0 or a negative errno; logs errors. */
int prover_init(const struct options *opts, struct prover *ret);
void prover_deinit(struct prover *prover);

/*
 * Starts the held command, and arranges that it pauses at its end, if proofs are made. Returns 0 or
 * a negative errno; logs errors.
 */
int prover_watch(struct prover *prover, struct child *child);
/*
 * Returns a descriptor that becomes readable when the command pauses at its end, or -1 if no
 * command is watched.
 */
int prover_end_fd(const struct prover *prover);
/* Notifies the source that the command has paused at its end; the next report has a proof. */
void prover_at_end(struct prover *prover, struct source *source);

/*
 * Requests a proof for the next two reports, even without --prove: blocks that are definite in both
 * are lost. Returns 0, or a negative errno after logging why no proof is possible.
 */
int prover_want(struct prover *prover);

/*
 * Takes pictures if the new report gets a proof. now: make one regardless of --prove-every.
 * ret_before_ns: see struct read_request. Returns 0 or a negative errno.
 */
int prover_begin(struct prover *prover, struct source *source, bool now, uint64_t *ret_before_ns);
/*
 * Adds the proof to the snapshot if one was begun. Lets another thread run while memory is
 * searched.
 */
int prover_finish(struct prover *prover, struct snapshot *snap);
/* Cancels a proof that was begun. */
void prover_cancel(struct prover *prover);

#endif
