/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes a picture of a live process: its memory and its registers at one moment. Sleeping threads
 * are not disturbed. Running threads are stopped, usually for about as long as a system call takes.
 * Does not interpret memory.
 */
#ifndef PROOF_PICTURE_H
#define PROOF_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_memory.h"
#include "proof/live_threads.h"
#include "proof/thread_state.h"
#include "report/heap_census.h"

enum picture_method {
	PICTURE_STILL,  /* no thread was stopped, because all threads sleep */
	PICTURE_CLONE,  /* memory is read from a copy of the process, which never runs */
	PICTURE_ENDED,  /* the process is stopped at its exit until the picture is freed */
	PICTURE_FREEZE, /* running threads stay stopped until picture__release() */
};

struct picture_taker;

struct picture {
	enum picture_method method;
	pid_t pid;         /* pid of the process */
	pid_t copy;        /* with PICTURE_CLONE: pid of the copy */
	uint64_t taken_ns; /* CLOCK_MONOTONIC time of the picture */
	/*
	 * How long running threads were stopped. With PICTURE_FREEZE, known only after
	 * picture__release().
	 */
	uint64_t stopped_ns;
	/* the kernel's memory figures for the process, read shortly after taken_ns */
	struct memory_use use;
	int copy_err; /* with PICTURE_FREEZE: why no copy was made, see tracer_order.h */
	struct live_memory live;
	const struct memory *memory; /* points to live.memory once that is open; else NULL */
	struct thread_states threads;
	/* records of the threads, each made while it slept or was stopped */
	struct live_threads seen;
	bool holds_process; /* true if threads are still stopped, or if a copy still exists */
	struct picture_taker *taker;
};

/*
 * Starts the tracer process. Call before reading anything of a target, because the tracer inherits
 * memleak's memory. Returns 0 or a negative errno.
 */
int picture_taker__new(struct picture_taker **ret);
void picture_taker__free(struct picture_taker *taker);

/*
 * Takes a picture; call picture__release() before taking the next one. waits_for_runner: true if
 * the threads of the process are known not to sleep long enough for all memory to be read. Then, if
 * all threads sleep now, first waits a while for a thread to run, because a process can be copied
 * only while it has a running thread. At the deadline, the copy is killed and threads resume, even
 * if not all memory was read. Returns 0, -ESRCH if the process is gone, -EBUSY if a debugger traces
 * it, -EAGAIN if its threads come and go too fast, -EOPNOTSUPP if it has had threads whose
 * registers at their end are unknown, -ETIMEDOUT, -EPIPE if the tracer is gone, or another negative
 * errno.
 */
int picture_taker__take(struct picture_taker *taker, pid_t pid, bool waits_for_runner,
			uint64_t deadline_ns, struct picture **ret);

/*
 * True if all memory read so far was unchanged since taken_ns: always for a copy and for a process
 * stopped at its exit; otherwise if no thread has run since taken_ns. Call before
 * picture__release().
 */
bool picture__is_valid(struct picture *picture);

/* Resumes all threads, and kills the copy if there is one. Call once all memory has been read. */
void picture__release(struct picture *picture);
void picture__free(struct picture *picture);

/* True if a picture by this taker still has stopped threads or a copy. */
bool picture_taker__is_busy(const struct picture_taker *taker);

/*
 * Makes the tracer stop a process at its exit: see end_watch.h. One process per taker. Returns 0 or
 * a negative errno.
 */
int picture_taker__watch_end(struct picture_taker *taker, pid_t pid);
/*
 * Returns a descriptor that is readable once the watched process has stopped at its exit, -1 if no
 * process is watched.
 */
int picture_taker__end_fd(const struct picture_taker *taker);
/*
 * Returns true once, after the watched process has stopped at its exit. Before that, no picture of
 * this exit is taken.
 */
bool picture_taker__note_end(struct picture_taker *taker);

#endif
