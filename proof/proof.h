/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs proofs: takes pictures of traced processes, then the source reads its tables, then
 * unreachable blocks are found. In this order nothing is stopped while tables are read: a block in
 * the tables that was born well before the picture was there when the picture was taken.
 *
 * A block is lost if two pictures in a row found it definite, or one at the process's end.
 */
#ifndef PROOF_PROOF_H
#define PROOF_PROOF_H

#include "loader/source.h"
#include "proof/marking.h"
#include "report/snapshot.h"

struct proof;

/*
 * Creates a proof. several: take pictures of several processes at a time. Returns 0 or a negative
 * errno.
 */
int proof__new(bool several, struct proof **ret);
void proof__free(struct proof *proof);

/* Adds a census of heaps to each snapshot. */
void proof__want_census(struct proof *proof);

/*
 * Makes a process stop at its exit, by exit() or by a signal, while it still has its memory. The
 * process must be stopped now, and not traced. Returns 0 or a negative errno.
 */
int proof__watch_end(struct proof *proof, pid_t pid);
/*
 * Returns a descriptor that is readable once the watched process is at its end, -1 if none is
 * watched.
 */
int proof__end_fd(const struct proof *proof);

/*
 * Takes pictures. A process whose picture fails gets no proof, and the reason is logged once.
 * ret_before_ns: only blocks born before this time can be judged. Returns 0 or a negative errno.
 */
int proof__begin(struct proof *proof, const struct traced_process *processes, size_t cnt,
		 uint64_t deadline_ns, uint64_t *ret_before_ns);

/*
 * Judges the blocks of the snapshot's heaps, frees these, and fills in reachability for sites and
 * in all. Frees the pictures. Gives the turn (base/turns.h) to other threads while reading memory.
 * Returns -ECANCELED if stop asked for it; then nothing is filled in.
 */
int proof__finish(struct proof *proof, struct snapshot *snap, marking_stop_fn *stop, void *arg);

/* Frees pictures without a proof. */
void proof__cancel(struct proof *proof);

#endif
