/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracer is asked to do, and what it answers. */
#ifndef PROOF_TRACER_ORDER_H
#define PROOF_TRACER_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proof/live_threads.h"

/* What a message begins with. */
enum tracer_request { TRACER_TAKE, TRACER_LET_GO, TRACER_WATCH_END };

enum tracer_result {
	TRACER_NOBODY_RAN, /* all threads sleep; nothing was stopped */
	TRACER_COPIED,
	TRACER_HOLDS, /* threads that ran stand still until tracer__let_go() */
	TRACER_ENDED, /* the process stands still at its end, the same */
};

struct tracer_order {
	pid_t pid;
	bool wants_runner; /* waits for a thread that runs for a moment, if none does */
	bool may_copy;
	uint64_t deadline_ns; /* by then all goes on, and a copy ends */
};

struct tracer_answer {
	enum tracer_result result;
	pid_t copy;
	/*
	 * TRACER_HOLDS: why there is no copy: -ECHILD: somebody would notice; -ENOEXEC: no thread
	 * may make one, as under a filter of system calls; -ESTALE: somebody ran each time;
	 * -ENOMEM: there is not enough memory for it; -EAGAIN: too many processes.
	 */
	int copy_err;
	uint64_t taken_ns;
	uint64_t stopped_ns; /* how long threads stood still; TRACER_HOLDS: not known yet */
	struct live_threads seen;
};

#endif
