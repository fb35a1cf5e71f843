/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which reports have a proof, and logs the progress of proofs. */
#ifndef APP_PROVER_H
#define APP_PROVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "loader/source.h"
#include "options/options.h"
#include "proof/proof.h"

struct child;

struct prover {
	const struct options *opts;
	struct proof *proof; /* state kept for all proofs; NULL if no report gets a proof */
	uint64_t reports;    /* number of reports since the last report with a proof */
	bool begun;          /* pictures have been taken for the next proof */
	unsigned int wanted; /* number of upcoming reports that get a proof, even without --prove */
	uint64_t next_message_ns; /* time of the next progress message */
	/* Pid of the command if it will be paused when it ends; otherwise 0. */
	pid_t watched;
};

/* Initialises the prover. Returns 0 or a negative errno; logs errors. */
int prover_init(const struct options *opts, struct prover *ret);
void prover_deinit(struct prover *prover);

/*
 * Continues the command, which memleak has started and stopped. If proofs are made, first arranges
 * that the command is paused when it ends. Returns 0 or a negative errno; logs errors.
 */
int prover_watch(struct prover *prover, struct child *child);
/*
 * Returns a descriptor that becomes readable when the command is paused at its end. Returns -1 if
 * the command will not be paused.
 */
int prover_end_fd(const struct prover *prover);
/*
 * Notifies the source that the command is paused at its end. Must be called when the descriptor of
 * prover_end_fd() is readable.
 */
void prover_at_end(struct prover *prover, struct source *source);

/*
 * Requests a proof for each of the next two reports, even without --prove and whatever
 * --prove-every says: blocks that are definite in both proofs are lost. Returns 0. If no proof is
 * possible, logs why and returns a negative errno.
 */
int prover_want(struct prover *prover);

/*
 * Takes pictures of memory if the new report gets a proof. If `now` is true, the report gets a
 * proof regardless of --prove-every. For ret_before_ns, see struct read_request. Returns 0 or a
 * negative errno.
 */
int prover_begin(struct prover *prover, struct source *source, bool now, uint64_t *ret_before_ns);
/*
 * Adds the proof to the snapshot if pictures were taken for it. Releases the lock
 * (base/fair_lock.h) for other threads while memory is searched.
 */
int prover_finish(struct prover *prover, struct snapshot *snap);
/*
 * Returns the pid of the copy of a process image that exists until prover_finish(); 0 if there is
 * none.
 */
pid_t prover_copy_of(const struct prover *prover, uint32_t image);
/* Cancels a proof for which pictures were taken. */
void prover_cancel(struct prover *prover);

#endif
