/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of a stopped process, by copy-on-write, which never runs: made by one of its threads, and
 * unknown to all of them. It shares open files, so that none stays open because of it. For the
 * process that traces it alone, and ends with that.
 *
 * The thread makes a process that has its memory, which makes the copy and ends at once; so the
 * copy belongs to whoever takes orphans, and the process never hears of it.
 */
#ifndef PROOF_COPY_H
#define PROOF_COPY_H

#include <stdint.h>
#include <sys/types.h>

#include "proof/stop.h"

struct copy {
	pid_t pid;
	uint64_t at; /* where it has an instruction for system calls */
	uint64_t taken_ns;
};

/* Copies that were ended; it takes a while until a large one's memory is free. */
#define ENDED_COPIES_MAX 16
struct ended_copies {
	pid_t pids[ENDED_COPIES_MAX];
	size_t cnt;
};

/* Takes leave of those that are gone by now. How many are left. */
size_t ended_copies_reap(struct ended_copies *ended);

/*
 * During a stop; at is what remote_call_place() said. Threads that have run meanwhile are held, and
 * it is tried again a few times. 0 or a negative errno: -ENOEXEC: no thread may be used for this;
 * -ESTALE: somebody runs each time; or why the process can have no child: -ENOMEM, -EAGAIN ...
 */
int copy_make(struct stop *stop, uint64_t at, uint64_t deadline_ns, struct ended_copies *ended,
	      struct copy *ret);

/* Has it end, and adds it to these. */
void copy_end(const struct copy *copy, struct ended_copies *ended);

#endif
