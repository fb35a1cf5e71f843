/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a copy-on-write copy of a stopped process, without its threads noticing. The copy never
 * runs. It shares the table of open files, so it keeps no file open. Only for the tracing process;
 * the copy is killed when that process ends.
 *
 * A thread of the process first makes a child that shares its memory; the child makes the copy and
 * ends. So the copy is an orphan, reaped by the process's reaper, and never a child of the process.
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

/* Copies that were killed; freeing the memory of a large one takes time. */
#define ENDED_COPIES_MAX 16
struct ended_copies {
	pid_t pids[ENDED_COPIES_MAX];
	size_t cnt;
};

/* Reaps copies that have ended. Returns the number that have not. */
size_t ended_copies_reap(struct ended_copies *ended);

/*
 * Makes a copy while the process is stopped; at is from remote_call_place(). Stops threads that ran
 * meanwhile, and retries a few times. Returns -ENOEXEC if no thread can be used, -ESTALE if some
 * thread ran at each try, or why clone() failed: -ENOMEM, -EAGAIN ...
 */
int copy_make(struct stop *stop, uint64_t at, uint64_t deadline_ns, struct ended_copies *ended,
	      struct copy *ret);

/* Kills the copy and adds it to ended. */
void copy_end(const struct copy *copy, struct ended_copies *ended);

#endif
