/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combines the parts that all user space sources need: BPF programs, processes, records. Does not
 * know what is tracked or reported.
 */
#ifndef LOADER_USER_TRACING_H
#define LOADER_USER_TRACING_H

#include "loader/user/cgroup_watch.h"
#include "loader/user/fd_programs.h"
#include "loader/user/lifecycle.h"
#include "loader/user/probe_sweep.h"
#include "loader/user/records.h"

struct tracing_request {
	const struct options *opts;
	struct symbolizer *symbolizer;
	const pid_t *pids;
	size_t pid_cnt;
	/* Selects the BPF programs to load; if NULL, those that track blocks are loaded. */
	int (*choose)(void *arg, struct user_context *ctx);
	void *arg;
	/*
	 * Time limit for reading files of targets after loading the BPF programs, in nanoseconds.
	 */
	uint64_t start_ns;
};

struct tracing {
	struct user_programs programs;
	struct process_set set;
	struct item_watches watches;
	struct records records; /* the caller may set the fields `event` and `arg` at any time */
	struct lifecycle lifecycle;
	struct fd_programs fd_programs;
	struct cgroup_watch cgroup;
	struct probe_sweep sweep;
	uint64_t reported_calls;
	bool logged_silent; /* logged that reported_calls has not changed */
};

/*
 * Loads the BPF programs, then opens and probes the processes. Zero *tracing before, and do not
 * move it afterwards. Returns 0, or a negative errno after logging it; call tracing_deinit() either
 * way.
 */
int tracing_init(struct tracing *tracing, const struct tracing_request *request);
void tracing_deinit(struct tracing *tracing);

/* Logs what is traced. */
void tracing_describe(const struct tracing *tracing);
/* Makes the BPF programs begin to record. */
void tracing_start(struct tracing *tracing);
int tracing_poll_fd(const struct tracing *tracing);
/* Handles some of the pending records and events. Returns 0 or a negative errno. */
int tracing_dispatch(struct tracing *tracing, uint64_t deadline_ns);
/*
 * Handles all pending records and events, and finishes deferred stacks. Returns 0 or a negative
 * errno.
 */
int tracing_drain(struct tracing *tracing, uint64_t deadline_ns);
/*
 * Frees processes that have ended, with all of their data, and removes unused probes. calls: number
 * of allocator calls seen since tracing began. If this number has not changed since the last call,
 * logs that no allocator call was seen; logs it again only after calls have been seen.
 */
void tracing_maintain(struct tracing *tracing, uint64_t calls);

#endif
