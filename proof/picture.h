/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a live process has in its memory and registers at one moment, without harm to it: threads
 * that sleep are never disturbed, others stand still for the time of one system call. Knows nothing
 * of what is in the memory.
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
	PICTURE_STILL,  /* all its threads sleep; nothing was stopped */
	PICTURE_CLONE,  /* a copy of the process, which never runs */
	PICTURE_ENDED,  /* the process stands still at its end until the picture is freed */
	PICTURE_FREEZE, /* threads that ran stand still until they are let go */
};

struct picture_taker;

struct picture {
	enum picture_method method;
	pid_t pid;           /* of the process */
	uint64_t taken_ns;   /* of CLOCK_MONOTONIC: memory is as it was then */
	uint64_t stopped_ns; /* how long threads stood still, those that ran; of PICTURE_FREEZE this
				is known after picture__let_go() */
	struct memory_use use; /* by what the kernel counts, at once or soon after */
	int copy_err;          /* PICTURE_FREEZE: why it is no copy, see tracer_order.h */
	struct live_memory live;
	const struct memory *memory; /* of live */
	struct thread_states threads;
	struct live_threads seen; /* threads as they slept, or stood still */
	bool is_held;             /* threads, or a copy, are */
	struct picture_taker *taker;
};

/*
 * To be made before anything of a target is read: a process of its own does what stops threads, and
 * has what memleak has in memory now. 0 or a negative errno.
 */
int picture_taker__new(struct picture_taker **ret);
void picture_taker__free(struct picture_taker *taker);

/* The process that stops threads; of what it makes it is the tracer. 0: none runs at the moment. */
pid_t picture_taker__pid(const struct picture_taker *taker);

/*
 * One at a time, and one after another. is_restless: if all threads sleep, one is waited for that
 * runs, for a while, as it would run before all has been read. At the deadline a copy ends and
 * threads are let go, whatever was read by then. 0 or a negative errno: -ESRCH: the process is
 * gone; -EBUSY: a debugger traces it; -EAGAIN: its threads come and go too fast; -ETIMEDOUT;
 * -EPIPE: what stops threads is gone.
 */
int picture_taker__take(struct picture_taker *taker, pid_t pid, bool is_restless,
			uint64_t deadline_ns, struct picture **ret);

/*
 * Whether all that was read until now was as it was at taken_ns: always true of a copy; else of a
 * process of which no thread has run since that slept. To be asked before picture__let_go().
 */
bool picture__is_valid(struct picture *picture);

/* All has been read: threads go on, and a copy ends. */
void picture__let_go(struct picture *picture);
void picture__free(struct picture *picture);

/* Whether a picture of its has not been freed for which something is held. */
bool picture_taker__is_busy(const struct picture_taker *taker);

/*
 * Has a process stand still at its end: see end_watch.h. One for each taker. 0 or a negative errno.
 */
int picture_taker__watch_end(struct picture_taker *taker, pid_t pid);
/* Readable when it does; -1: none is watched. */
int picture_taker__end_fd(const struct picture_taker *taker);

#endif
