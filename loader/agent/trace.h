/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --trace: what programs tell of each call, in the order of time. */
#ifndef LOADER_AGENT_TRACE_H
#define LOADER_AGENT_TRACE_H

#include "loader/agent/lineage.h"
#include "loader/source.h"

/* Who reads the rings of all processes. */
struct agent_trace {
	const struct options *opts;
	struct code_files *files;
	struct symbol_backend *symbols;
	int timer_fd; /* readable when it is time to look; -1: nobody wants events */
};

/* Fills in timer_fd. 0 or a negative errno. */
int agent_trace_init(struct agent_trace *trace);
void agent_trace_deinit(struct agent_trace *trace);

/*
 * Tells of what has come: all that has up to now, or some. If there is more, timer_fd stays
 * readable. 0 or -ENOMEM.
 */
int agent_trace_take(struct agent_trace *trace, const struct agent_processes *processes,
		     const struct event_listener *listener, bool all);

#endif
