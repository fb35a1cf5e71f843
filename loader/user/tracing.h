/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes with all that goes on around them: what every source of user space is made
 * of. What is tracked of the processes, and what is reported, it does not know.
 */
#ifndef LOADER_USER_TRACING_H
#define LOADER_USER_TRACING_H

#include "loader/user/cgroup_watch.h"
#include "loader/user/lifecycle.h"
#include "loader/user/pool_sweep.h"
#include "loader/user/records.h"

struct tracing_request {
	const struct options *opts;
	struct symbolizer *symbolizer;
	const pid_t *pids;
	size_t pid_cnt;
	/* Has other programs loaded than those that track blocks; NULL: those. */
	int (*choose)(void *arg, struct user_context *ctx);
	void *arg;
	uint64_t start_ns; /* so long is waited for files of targets once the programs are loaded */
};

struct tracing {
	struct user_programs programs;
	struct process_set set;
	struct records records; /* event and arg may be set at any time */
	struct lifecycle lifecycle;
	struct cgroup_watch cgroup;
	struct pool_sweep sweep;
	uint64_t reported_calls;
	bool told_silent; /* that none came since */
};

/*
 * Loads the programs, and opens and probes the processes. tracing is all zeros and stays where it
 * is. 0 or a negative errno, and it has said what failed; to be deinited either way.
 */
int tracing_init(struct tracing *tracing, const struct tracing_request *request);
void tracing_deinit(struct tracing *tracing);

/* Says on stderr what is traced. */
void tracing_describe(const struct tracing *tracing);
/* The programs begin to record. */
void tracing_start(struct tracing *tracing);
int tracing_poll_fd(const struct tracing *tracing);
/* Takes in some of what has come. 0 or a negative errno. */
int tracing_dispatch(struct tracing *tracing, uint64_t deadline_ns);
/* Takes in all that has come, and finishes the stacks. 0 or a negative errno. */
int tracing_settle(struct tracing *tracing, uint64_t deadline_ns);
/*
 * Forgets processes that have ended, with what is held of them, and probes that nobody needs. Says
 * so if calls, which are those seen since tracing began, have become no more since the last report.
 */
void tracing_maintain(struct tracing *tracing, uint64_t calls);

#endif
