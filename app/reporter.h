/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns the snapshots of a run into reports. It treats live and recorded runs alike. */
#ifndef APP_REPORTER_H
#define APP_REPORTER_H

#include "report/ranking.h"
#include "report/report.h"
#include "sinks/output.h"

struct screen;
struct server;
struct sink;
struct suppressor;

/* Result of the last report, which decides the exit code with --error-exitcode */
enum last_verdict {
	VERDICT_CLEAN,
	VERDICT_LEFT,    /* something is outstanding or, with --prove, definite */
	VERDICT_UNKNOWN, /* a proof was requested, but there is none */
};

/* Maximum reports whose totals are remembered, including the current one */
#define PAST_TOTALS 24

struct reporter {
	const struct options *opts;
	const struct sink *sink;
	struct symbol_backend *symbols;
	struct output *out;
	struct server *server; /* server that also shows reports; NULL if there is none; set by the
				  caller */
	struct screen *screen; /* screen that shows reports instead of the output; NULL if there is
				  none; set by the caller */
	struct suppressor *suppressor; /* NULL if nothing is suppressed */
	struct ranking *ranking;
	struct ranking *group_ranking;
	struct ranking *pool_ranking;
	struct ranking *footprint_ranking;
	struct ended_processes ended;     /* ended since the last report */
	struct ended_processes all_ended; /* ended since tracing began */
	struct ranking *caller_ranking;
	struct untraced_growths untraced; /* growth found in the last snapshot */
	struct rss first_rss; /* resident memory at the first snapshot of the image that has it */
	uint32_t first_rss_image;
	uint64_t baseline_ns;       /* baseline of the last snapshot */
	uint64_t last_ns;           /* elapsed_ns of the last snapshot */
	uint64_t reports;           /* number of printed reports */
	uint64_t past[PAST_TOTALS]; /* outstanding bytes of past reports, oldest first */
	size_t past_cnt;
	bool names_noted; /* missing names have been logged */
	bool recorded;    /* run was recorded: only data in snapshots is available */
	bool last;        /* recorded run: this report is the last; set by the caller */
	enum last_verdict verdict;
};

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret);
void reporter_deinit(struct reporter *reporter);

/*
 * Adds a snapshot to the history, and prints its report if show is set; a snapshot taken between
 * reports is never printed. Names of frames are looked up until deadline_ns of CLOCK_MONOTONIC.
 * Returns 0 or a negative errno.
 */
int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show);

#endif
