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

struct read_request {
	uint64_t deadline_ns;
	/* Blocks of heaps are wanted that were born before then, for a proof; 0: none are. */
	uint64_t heaps_before_ns;
};

/* A process whose heap a proof can look at. */
struct traced_process {
	pid_t pid;
	uint32_t image;
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
	 * not seen. is_reported false: the snapshot was taken between reports, and processes that
	 * have ended stay for the next one.
	 */
	int (*settle)(struct source *source, const struct event_listener *listener,
		      uint64_t deadline_ns);
	int (*read)(struct source *source, const struct read_request *request,
		    struct snapshot *ret);
	int (*maintain)(struct source *source, const struct snapshot *snap, bool is_reported);
	/*
	 * The process runs no more, though its memory is still there: of what it has nothing is too
	 * young for a report. NULL: there are no such.
	 */
	void (*at_end)(struct source *source, pid_t pid);
	/*
	 * Pictures of memory are about to be taken, for what is read next: blocks that move before
	 * that are not judged. NULL: none move.
	 */
	void (*expect_pictures)(struct source *source);
	/* Which processes have heaps; from malloc. NULL: none have. */
	int (*processes)(const struct source *source, struct traced_process **ret, size_t *ret_cnt);
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
