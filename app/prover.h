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

/* Whether the next report gets a proof */
enum proof_time {
	PROOF_NOT_NOW, /* only if the command is paused at its end, or prover_want() was called */
	PROOF_IN_TURN, /* as --prove-every says */
	PROOF_NOW,
};

struct prover {
	const struct options *opts;
	struct proof *proof; /* state of all proofs; NULL if no report gets a proof */
	uint64_t reports;    /* number of reports since the last one with a proof */
	/* true if pictures (proof/picture.h) were taken for a proof, which prover_finish() makes */
	bool begun;
	/* true if the command is paused at its end, and no proof has been made since */
	bool at_end;
	/* number of further reports that get a proof at the user's request */
	unsigned int wanted;
	uint64_t next_message_ns;
	/* Pid of the command if it will be paused when it ends; otherwise 0. */
	pid_t watched;
};

/* Returns 0 or a negative errno; logs errors. */
int prover_init(const struct options *opts, struct prover *ret);
void prover_deinit(struct prover *prover);

/*
 * Continues the command, which memleak has started in the stopped state. If reports get proofs,
 * first arranges that the command is paused when it ends. Returns 0 or a negative errno; logs
 * errors.
 */
int prover_watch(struct prover *prover, struct child *child);
/*
 * Returns a descriptor that becomes readable when the command is paused at its end; -1 if it will
 * not be paused.
 */
int prover_end_fd(const struct prover *prover);
/*
 * Returns true once, after the command was paused at its end. The next report gets a proof, after
 * which the command exits. Tells the source.
 */
bool prover_note_end(struct prover *prover, struct source *source);

/*
 * Requests a proof for each of the next two reports, whatever --prove and --prove-every say. Two
 * proofs are needed because a block counts as lost only if both find it definite. Returns 0. If no
 * proof is possible, logs why and returns a negative errno.
 */
int prover_want(struct prover *prover);

/*
 * If the next report gets a proof, takes pictures (proof/picture.h) of all traced processes. Sets
 * *ret_before_ns to the value for read_request.heaps_before_ns, or 0 without a proof. Returns 0 or
 * a negative errno.
 */
int prover_begin(struct prover *prover, struct source *source, enum proof_time time,
		 uint64_t *ret_before_ns);
/*
 * If pictures were taken for the snapshot, makes the proof and adds its results to the snapshot.
 * While searching memory, releases the lock of base/fair_lock.h for other threads. Returns 0 or a
 * negative errno.
 */
int prover_finish(struct prover *prover, struct snapshot *snap);
/*
 * Returns the pid of the copy of a process that was made for taking pictures; 0 if there is none.
 * The copy exists until prover_finish(). `image` is the number of the process's exec image.
 */
pid_t prover_copy_of(const struct prover *prover, uint32_t image);
/* Discards the pictures for a proof, if any. */
void prover_cancel(struct prover *prover);

#endif
