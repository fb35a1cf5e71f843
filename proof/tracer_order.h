/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the tracer, and its answers. */
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
	bool waits_for_runner; /* if no thread runs, wait a while for a thread to run */
	bool may_copy;
	uint64_t deadline_ns; /* time at which threads are resumed and a copy is killed */
};

struct tracer_answer {
	enum tracer_result result;
	pid_t copy;
	/*
	 * With TRACER_STOPPED: reason that no copy was made. -ECHILD: the process could notice a
	 * copy; -ENOEXEC: no thread can make a copy, e.g. because of a seccomp filter; -ESTALE:
	 * threads ran during each try; -ENOMEM: not enough memory; -EAGAIN: too many processes.
	 */
	int copy_err;
	uint64_t taken_ns;
	/* time that threads were stopped; 0 with TRACER_STOPPED, because they still are */
	uint64_t stopped_ns;
	struct live_threads seen;
};

#endif
