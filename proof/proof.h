/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A proof: pictures of the memory of traced processes are taken, then the source's tables are read,
 * then it is found out which blocks nothing points to. In that order nothing needs to be held while
 * tables are read: a block that is there, and was born well before the picture, was there when that
 * was taken.
 *
 * A block counts as lost if two pictures in a row have found it definite, or one at the process's
 * end.
 */
#ifndef PROOF_PROOF_H
#define PROOF_PROOF_H

#include "loader/source.h"
#include "proof/marking.h"
#include "report/snapshot.h"

struct proof;

/* several: pictures of several processes are wanted at a time. 0 or a negative errno. */
int proof__new(bool several, struct proof **ret);
void proof__free(struct proof *proof);

/* Snapshots are to have a census of the heaps, too. */
void proof__want_census(struct proof *proof);

/*
 * Has the process stand still at its end, while its memory is still there: by exit, and by a signal
 * alike. It stands still now, and is not traced. 0 or a negative errno.
 */
int proof__watch_end(struct proof *proof, pid_t pid);
/* Readable when it does; -1: nobody is watched. */
int proof__end_fd(const struct proof *proof);

/*
 * Takes pictures. Of a process of which that fails nothing is proved, and why is said once. ret:
 * only blocks born before then can be judged. 0 or a negative errno.
 */
int proof__begin(struct proof *proof, const struct traced_process *processes, size_t cnt,
		 uint64_t deadline_ns, uint64_t *ret_before_ns);

/*
 * Judges the blocks of the snapshot's heaps, which it frees, and fills in what is found of sites
 * and in all. The pictures are given back. While it looks at memory, it gives the caller's
 * turn away (base/turns.h). -ECANCELED: stop has said so, and nothing is filled in.
 */
int proof__finish(struct proof *proof, struct snapshot *snap, marking_stop_fn *stop, void *arg);

/* Gives pictures back of which no proof is to be made. */
void proof__cancel(struct proof *proof);

#endif
