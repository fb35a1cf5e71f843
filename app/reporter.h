/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes reports from the snapshots of a run, live or recorded, or from the snapshot of a core file.
 */
#ifndef APP_REPORTER_H
#define APP_REPORTER_H

#include "app/own_load.h"
#include "app/source_texts.h"
#include "app/threshold.h"
#include "report/ranking.h"
#include "report/report.h"
#include "report/totals.h"
#include "sinks/output.h"

struct screen;
struct metrics_server;
struct sink;
struct suppressor;

/*
 * Verdict of the latest report. With --error-exitcode, the verdict of the final report decides the
 * exit code.
 */
enum last_verdict {
	VERDICT_CLEAN,
	VERDICT_LEFT, /* something is outstanding; with --prove, something is definitely lost */
	/* nothing is known to be lost, but at least one process lacks the requested proof */
	VERDICT_UNKNOWN,
};

struct reporter {
	const struct options *opts;
	const struct sink *sink;
	struct symbol_backend *symbols;
	struct output *out;
	/* server of --listen, which also gets the reports, or NULL; set by the caller */
	struct metrics_server *server;
	/* screen that gets the reports in place of the output, or NULL; set by the caller */
	struct screen *screen;
	struct suppressor *suppressor; /* suppressions in effect, or NULL */
	struct source_texts source;    /* source lines; not used without --source */
	struct ranking *ranking;
	struct ranking *group_ranking;
	struct ranking *pool_ranking;
	struct ranking *footprint_ranking;
	struct ended_processes ended;     /* processes that ended since the previous report */
	struct ended_processes all_ended; /* processes that ended since tracing began */
	struct ranking *caller_ranking;
	struct untraced_growths untraced; /* untraced growth as of the latest snapshot */
	struct rss_pasts rss_pasts;
	uint64_t baseline_ns; /* baseline of the previous snapshot */
	uint64_t last_ns;     /* elapsed_ns of the previous snapshot */
	uint64_t reports;     /* number of printed reports */
	/* memleak's load as measured at the screen's previous report */
	struct own_load load;
	struct totals totals; /* total outstanding bytes in each of the latest reports */
	/* threshold of --at-bytes and --at-growth, or NULL; set by the caller */
	struct threshold *threshold;
	/* true if reports are not printed, because the threshold waits; set by the caller */
	bool quiet;
	bool names_noted;        /* true if missing names have been logged */
	uint64_t names_until_ns; /* time until which names are looked up for the latest report */
	/* true if snapshots come from a recording or core file, so processes cannot be read */
	bool recorded;
	/* with `recorded`: true if no report is shown after this one; set by the caller */
	bool last;
	/*
	 * true if the verdict needs a proof, because the run had --prove; for a recording, set by
	 * the caller
	 */
	bool needs_proof;
	enum last_verdict verdict;
};

/*
 * Returns the exit code of a command that has succeeded. code: the exit code if --error-exitcode is
 * not given or nothing is left. If the verdict is unknown, logs an error and returns EXIT_CANNOT.
 */
int verdict_exit_code(const struct options *opts, enum last_verdict verdict, int code);

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret);
void reporter_deinit(struct reporter *reporter);

/*
 * True if names may be missing in the latest report because there was no time to look them up, or
 * because a termination signal is pending.
 */
bool reporter_lacks_names(const struct reporter *reporter);

/*
 * Adds a snapshot to the history. If `show` is true, also prints its report, unless the snapshot
 * was taken between reports. If it is the first to reach the threshold, only prints its report if
 * it is the final one; otherwise leaves it out, because the caller takes another at once. Names of
 * frames are looked up until deadline_ns (CLOCK_MONOTONIC). Returns 0 or a negative errno.
 */
int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show);

#endif
