/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs proofs. First, pictures of traced processes are taken; then the source of the blocks reads
 * its tables; then unreachable blocks are found. In this order, processes need not be stopped while
 * tables are read: if a block was allocated well before the picture and is still in the tables, it
 * existed at the time of the picture.
 *
 * A block is lost if it was definite in two successive pictures, or in a picture at the exit of the
 * process.
 */
#ifndef PROOF_PROOF_H
#define PROOF_PROOF_H

#include "loader/source.h"
#include "proof/marking.h"
#include "report/snapshot.h"

struct proof;

/*
 * Creates a proof. several: true to take pictures of several processes at a time. Returns 0 or a
 * negative errno.
 */
int proof__new(bool several, struct proof **ret);
void proof__free(struct proof *proof);

/* From now on, proof__finish() also adds a census of heaps to the snapshot. */
void proof__want_census(struct proof *proof);

/*
 * Makes a process stop when it exits, by exit() or by a signal, before its memory is freed. When
 * this is called, the process must be stopped, but not be traced. Returns 0 or a negative errno.
 */
int proof__watch_end(struct proof *proof, pid_t pid);
/*
 * Returns a descriptor that is readable once the watched process has stopped at its exit, -1 if no
 * process is watched.
 */
int proof__end_fd(const struct proof *proof);
/*
 * Returns true once, after the watched process has stopped at its exit. The next picture of it is
 * taken there, and then it ends.
 */
bool proof__note_end(struct proof *proof);

/*
 * Takes a picture of each process. A process whose picture fails gets no proof. The reason for this
 * is logged once per process, unless a later picture may succeed. *ret_before_ns: only blocks
 * allocated before this time can be judged; 0 if there is no picture. Returns 0 or a negative
 * errno.
 */
int proof__begin(struct proof *proof, const struct traced_process *processes, size_t cnt,
		 uint64_t deadline_ns, uint64_t *ret_before_ns);

/*
 * Returns the pid of proof__begin()'s copy of the process with this exec image number; 0 if there
 * is none. proof__finish() ends the copy.
 */
pid_t proof__copy_of(const struct proof *proof, uint32_t image);

/*
 * Judges the blocks in the heaps of the snapshot, and fills in the reachability of each site and
 * the totals. Frees these heaps and the pictures. While reading memory, releases the lock
 * (base/fair_lock.h), so that other threads can run. Returns 0, -ECANCELED if stop() returned true,
 * or another negative errno. After -ECANCELED, nothing is filled in.
 */
int proof__finish(struct proof *proof, struct snapshot *snap, marking_stop_fn *stop, void *arg);

/* Frees the pictures of proof__begin(), without a proof. */
void proof__cancel(struct proof *proof);

#endif
