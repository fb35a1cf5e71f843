/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the snapshots of a run into reports. Works in the same way for live and for recorded runs.
 */
#ifndef APP_REPORTER_H
#define APP_REPORTER_H

#include "app/own_load.h"
#include "app/source_texts.h"
#include "report/ranking.h"
#include "report/report.h"
#include "report/totals.h"
#include "sinks/output.h"

struct screen;
struct metrics_server;
struct sink;
struct suppressor;

/*
 * Verdict of the most recent report. The verdict of the final report decides the exit code with
 * --error-exitcode.
 */
enum last_verdict {
	VERDICT_CLEAN,
	VERDICT_LEFT,    /* something is outstanding; with --prove, something is definitely lost */
	VERDICT_UNKNOWN, /* a proof was requested, but there is none */
};

struct reporter {
	const struct options *opts;
	const struct sink *sink;
	struct symbol_backend *symbols;
	struct output *out;
	struct metrics_server *server; /* server that also shows reports; NULL if there is none; set
				  by the caller */
	struct screen *screen; /* screen that gets reports instead of the output; NULL if there is
				  none; set by the caller */
	struct suppressor *suppressor; /* suppressions in effect; NULL if nothing is suppressed */
	struct source_texts source;    /* source lines; not used without --source */
	struct ranking *ranking;
	struct ranking *group_ranking;
	struct ranking *pool_ranking;
	struct ranking *footprint_ranking;
	struct ended_processes ended;     /* processes that ended since the previous report */
	struct ended_processes all_ended; /* processes that ended since tracing began */
	struct ranking *caller_ranking;
	struct untraced_growths untraced; /* untraced growth up to the most recent snapshot */
	struct rss_pasts rss_pasts;       /* resident memory up to the most recent snapshot */
	uint64_t baseline_ns;             /* baseline of the previous snapshot */
	uint64_t last_ns;                 /* elapsed_ns of the previous snapshot */
	uint64_t reports;                 /* number of printed reports */
	struct own_load load;             /* for the screen: sums at its previous report */
	struct totals totals;             /* outstanding bytes of the latest reports */
	bool names_noted;                 /* a message about missing names was logged */
	bool recorded; /* the run comes from a recording, so its processes cannot be read */
	bool last;     /* recorded run: this report is the last; set by the caller */
	enum last_verdict verdict;
};

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret);
void reporter_deinit(struct reporter *reporter);

/*
 * Adds a snapshot to the history. If show is set, also prints its report, unless the snapshot was
 * taken between reports. Names of frames are looked up until deadline_ns of CLOCK_MONOTONIC.
 * Returns 0 or a negative errno.
 */
int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show);

#endif
