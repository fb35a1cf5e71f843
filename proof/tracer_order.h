/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the tracer, and its answers. */
#ifndef PROOF_TRACER_ORDER_H
#define PROOF_TRACER_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/* First word of a message. */
enum tracer_request { TRACER_TAKE, TRACER_LET_GO, TRACER_WATCH_END };

enum tracer_result {
	TRACER_NOBODY_RAN, /* all threads sleep; nothing was stopped */
	TRACER_COPIED,
	TRACER_HOLDS, /* threads that ran are stopped until tracer__let_go() */
	TRACER_ENDED, /* the process is stopped at its exit until tracer__let_go() */
};

struct tracer_order {
	pid_t pid;
	bool wants_runner; /* if no thread runs, wait for one that does */
	bool may_copy;
	uint64_t deadline_ns; /* time at which threads resume and a copy is killed */
};

struct tracer_answer {
	enum tracer_result result;
	pid_t copy;
	/*
	 * TRACER_HOLDS: why there is no copy. -ECHILD: it could be noticed; -ENOEXEC: no thread may
	 * make one, e.g. because of a seccomp filter; -ESTALE: some thread ran at each try;
	 * -ENOMEM: not enough memory; -EAGAIN: too many processes.
	 */
	int copy_err;
	uint64_t taken_ns;
	uint64_t stopped_ns; /* time that threads were stopped; unknown yet for TRACER_HOLDS */
	struct live_threads seen;
};

#endif
