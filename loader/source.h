/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines a source: something that is traced and has outstanding blocks. The main loop uses only
 * this interface, which has no BPF types.
 *
 * A parameter deadline_ns is a time of CLOCK_MONOTONIC. No function waits beyond it: it is the
 * deadline of a whole report, or of a whole iteration of the main loop. Data that arrives later may
 * become part of the next report.
 */
#ifndef LOADER_SOURCE_H
#define LOADER_SOURCE_H

#include "report/report.h"
#include "report/snapshot.h"
#include "report/trace_event.h"

struct source;

/* Receives the allocations and frees that -t prints. */
struct event_listener {
	void (*event)(void *arg, const struct trace_event *event);
	void *arg;
};

struct read_request {
	uint64_t deadline_ns;
	/*
	 * If not 0, the snapshot lists all heap blocks, for a proof (a search of the process's
	 * memory for pointers to blocks). The proof judges only blocks allocated before this time.
	 */
	uint64_t heaps_before_ns;
	/*
	 * If not 0, the snapshot is the last one: blocks that were not read by this time are left
	 * out, and counted as LOSS_UNREAD. If 0, read() fails with -EINTR when a termination signal
	 * is pending.
	 */
	uint64_t read_until_ns;
};

/* A process whose heap a proof can search. */
struct traced_process {
	pid_t pid;
	uint32_t image;
};

struct source_ops {
	/* Starts recording. */
	int (*start)(struct source *source);
	/* Logs what is traced. Called once tracing is ready. */
	void (*describe)(const struct source *source);
	/* Returns a descriptor that is readable while dispatch() has work to do. */
	int (*poll_fd)(const struct source *source);
	/*
	 * Handles some of the pending data. If data remains, the descriptor of poll_fd() stays
	 * readable.
	 */
	int (*dispatch)(struct source *source, const struct event_listener *listener,
			uint64_t deadline_ns);
	/* True if there is nothing more to trace. */
	bool (*ended)(const struct source *source);
	/*
	 * Each snapshot takes three calls. drain() handles all pending data. read() makes the
	 * snapshot, which owns everything that it points to, and removes nothing from the source.
	 * maintain() is called after the snapshot was used: it drops ended processes and makes room
	 * in tables. If is_reported is false, the snapshot was taken between reports, and ended
	 * processes are kept for the next report.
	 */
	int (*drain)(struct source *source, const struct event_listener *listener,
		     uint64_t deadline_ns);
	int (*read)(struct source *source, const struct read_request *request,
		    struct snapshot *ret);
	int (*maintain)(struct source *source, const struct snapshot *snap, bool is_reported);
	/*
	 * Called when a process is paused just before it ends, with its memory intact. From now on,
	 * no block of the process is too young for a report. This callback is NULL if the source
	 * cannot pause processes.
	 */
	void (*at_end)(struct source *source, pid_t pid);
	/*
	 * Called before a proof copies the memory of processes for the next snapshot. Blocks that
	 * move between this copy and the snapshot get no verdict. This callback is NULL if the
	 * source has no heaps.
	 */
	void (*expect_pictures)(struct source *source);
	/*
	 * Lists the processes that have heaps. The caller frees the list. This callback is NULL if
	 * the source has no heaps.
	 */
	int (*processes)(const struct source *source, struct traced_process **ret, size_t *ret_cnt);
	/*
	 * Watches, until the next read(), which lines of a script add items to cnt containers of a
	 * process. Fills in the lines that are known by now. This callback is NULL if the source
	 * has no such watches.
	 */
	void (*find_adders)(struct source *source, uint32_t image,
			    struct python_container *containers, size_t cnt);
	/*
	 * Moves the baseline to now_ns (CLOCK_MONOTONIC), unless the baseline is later already.
	 * Later snapshots leave out blocks allocated before the baseline. Returns the time from the
	 * start of tracing to now_ns.
	 */
	uint64_t (*set_baseline)(struct source *source, uint64_t now_ns);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct symbol_backend *symbols;
};

#endif
