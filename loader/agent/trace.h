/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --trace: shows the traced calls of all processes, ordered by time. */
#ifndef LOADER_AGENT_TRACE_H
#define LOADER_AGENT_TRACE_H

#include "loader/agent/lineage.h"
#include "loader/source.h"

/* Reader of the trace rings of all processes. */
struct agent_trace {
	const struct options *opts;
	struct code_files *files;
	struct symbol_backend *symbols;
	int timer_fd; /* readable when it is time to poll the rings; -1 without --trace */
};

/* Creates the timer. Returns 0 or a negative errno. */
int agent_trace_init(struct agent_trace *trace);
void agent_trace_deinit(struct agent_trace *trace);

/*
 * Passes pending calls to the listener: a few thousand, or those made until now if `all` is true
 * (with a limit in case programs write faster than memleak reads). If more remain, timer_fd stays
 * readable. Returns 0 or -ENOMEM.
 */
int agent_trace_take(struct agent_trace *trace, const struct agent_processes *processes,
		     const struct event_listener *listener, bool all);

#endif
