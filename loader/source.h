/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source: something that is traced and can tell what is outstanding. The main loop sees only
 * this; no BPF type lives past it.
 *
 * deadline_ns is a moment of CLOCK_MONOTONIC, the same for all that a report, or one turn of the
 * loop, may wait for. What is not there by then is left out, and may come with the next report.
 */
#ifndef LOADER_SOURCE_H
#define LOADER_SOURCE_H

#include "report/report.h"
#include "report/snapshot.h"
#include "report/trace_event.h"

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
	/* Takes in some of what has come; the rest keeps poll_fd readable. */
	int (*dispatch)(struct source *source, const struct event_listener *listener,
			uint64_t deadline_ns);
	/* Nothing is left that could be traced. */
	bool (*ended)(const struct source *source);
	/*
	 * A report is three steps. Takes in all that has come up to now; makes the snapshot, which
	 * changes nothing but caches, and which owns all that it points to; once the report is
	 * made, tidies up: forgets processes that have ended, makes room in tables, says what was
	 * not seen.
	 */
	int (*settle)(struct source *source, const struct event_listener *listener,
		      uint64_t deadline_ns);
	int (*read)(struct source *source, uint64_t deadline_ns, struct snapshot *ret);
	int (*maintain)(struct source *source, const struct snapshot *snap);
	/*
	 * Snapshots have only what is allocated from this moment of CLOCK_MONOTONIC on. Returns
	 * how long after tracing began it is.
	 */
	uint64_t (*set_baseline)(struct source *source, uint64_t now_ns);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct symbol_backend *symbols;
};

#endif
