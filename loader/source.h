/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source: something that is traced and can tell what is outstanding. The main loop sees only
 * this; no BPF type lives past it.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "report/report.h"
#include "report/snapshot.h"
#include "sinks/sink.h"

struct source;

/* Who wants the events of -t; NULL functions: nobody. */
struct event_listener {
	void (*event)(void *arg, const struct trace_event *event);
	void *arg;
};

struct source_ops {
	/* Begins to record. */
	int (*start)(struct source *source);
	/* Says what is traced on stderr: the ready line. */
	void (*describe)(const struct source *source);
	/* Readable when there is something for dispatch to do. */
	int (*poll_fd)(const struct source *source);
	int (*dispatch)(struct source *source, const struct event_listener *listener);
	/* Nothing is left that could be traced. */
	bool (*ended)(const struct source *source);
	/*
	 * What is outstanding now. final: the last one, when blocks of an ended process are
	 * wanted whatever their age unless -o was given.
	 */
	int (*snapshot)(struct source *source, struct snapshot *ret);
	/*
	 * Snapshots have only what is allocated from this moment of CLOCK_MONOTONIC on. Returns
	 * how long after tracing began it is.
	 */
	uint64_t (*set_baseline)(struct source *source, uint64_t now_ns);
	/* Called after each report: forget processes that have ended, say what was not seen. */
	void (*reported)(struct source *source, const struct snapshot *snap);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct symbol_backend *symbols;
};

#endif
