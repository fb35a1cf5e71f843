/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a copy-on-write copy of a stopped process. The process's threads do not notice it. The copy
 * never runs. It shares the process's table of open files, so files that the process closes do not
 * stay open in the copy. For use in the tracer only: the kernel kills the copy when the tracer
 * ends.
 *
 * A thread of the process first makes a child that shares the process's memory (the maker). The
 * maker makes the copy and ends. So the copy is an orphan: it is never a child of the copied
 * process, and the process that adopts orphans reaps it.
 */
#ifndef PROOF_COPY_H
#define PROOF_COPY_H

#include <stdint.h>
#include <sys/types.h>

#include "proof/stop.h"

struct copy {
	pid_t pid;
	uint64_t at; /* address of a system call instruction in the copy */
	uint64_t taken_ns;
};

/* Maximum killed copies that still exist: freeing the memory of a large copy takes time. */
#define ENDED_COPIES_MAX 16
struct ended_copies {
	pid_t pids[ENDED_COPIES_MAX];
	size_t cnt;
};

/* Reaps ended copies, and removes them from `ended`. Returns the number of remaining copies. */
size_t ended_copies_reap(struct ended_copies *ended);

/*
 * Makes a copy while the process is stopped; at: result of remote_call_place(). If threads ran
 * while the copy was made, stops them and retries, a few times. Returns 0; -ENOEXEC if no thread
 * can make system calls for memleak; -ESTALE if threads ran during each try; the errno of a failed
 * clone(), such as -ENOMEM or -EAGAIN; or another negative errno.
 */
int copy_make(struct stop *stop, uint64_t at, uint64_t deadline_ns, struct ended_copies *ended,
	      struct copy *ret);

/* Kills the copy and adds it to `ended`. */
void copy_end(const struct copy *copy, struct ended_copies *ended);

#endif
