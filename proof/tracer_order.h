/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the tracer process, and its answers. */
#ifndef PROOF_TRACER_ORDER_H
#define PROOF_TRACER_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/* First word of a message to the tracer. */
enum tracer_request { TRACER_TAKE, TRACER_RELEASE, TRACER_WATCH_END };

enum tracer_result {
	TRACER_ALL_ASLEEP, /* no thread was stopped, because all threads sleep */
	TRACER_COPIED,
	TRACER_STOPPED, /* running threads stay stopped until tracer__release() */
	TRACER_ENDED,   /* the process is stopped at its exit until tracer__release() */
};

struct tracer_order {
	pid_t pid;
	bool waits_for_runner; /* true to wait a while for a thread to run if no thread runs */
	bool may_copy;
	bool may_end;     /* false to get -EAGAIN, not a picture, if the process is at its exit */
	uint64_t call_at; /* address of a system call instruction in the process, 0 if unknown */
	/* CLOCK_MONOTONIC time at which threads are resumed and the copy is killed */
	uint64_t deadline_ns;
};

struct tracer_answer {
	enum tracer_result result;
	pid_t copy;
	/*
	 * With TRACER_STOPPED: why no copy was made. -ECHILD: the process could notice a copy;
	 * -ENOEXEC: no thread can make a copy, e.g. because of a seccomp filter; -ESTALE: threads
	 * ran during each try; -ENOMEM: not enough memory; -EAGAIN: too many processes; or another
	 * error of copy_make().
	 */
	int copy_err;
	uint64_t taken_ns;
	/*
	 * time for which threads were stopped; 0 with TRACER_STOPPED, because they are still
	 * stopped
	 */
	uint64_t stopped_ns;
	struct live_threads seen;
};

#endif
