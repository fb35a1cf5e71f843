/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the snapshots of a run, one after the other, into reports. Whether the run is going on or
 * was recorded is all the same to it.
 */
#ifndef APP_REPORTER_H
#define APP_REPORTER_H

#include "report/ranking.h"
#include "report/report.h"
#include "sinks/output.h"

struct screen;
struct server;
struct sink;
struct suppressor;

/* What --error-exitcode goes by, of the last report. */
enum last_verdict {
	VERDICT_CLEAN,
	VERDICT_LEFT,    /* something is outstanding or, with --prove, definite */
	VERDICT_UNKNOWN, /* a proof was wanted, and there is none */
};

/* Reports whose totals are remembered, this one included. */
#define PAST_TOTALS 24

struct reporter {
	const struct options *opts;
	const struct sink *sink;
	struct symbol_backend *symbols;
	struct output *out;
	struct server *server;         /* shows reports, too; NULL: none does; set by the caller */
	struct screen *screen;         /* the same; then nothing is printed */
	struct suppressor *suppressor; /* NULL: nothing is suppressed */
	struct ranking *ranking;
	struct ranking *group_ranking;
	struct ranking *pool_ranking;
	struct ranking *footprint_ranking;
	struct ended_processes ended;     /* since the last report */
	struct ended_processes all_ended; /* since tracing began */
	struct ranking *caller_ranking;
	struct untraced_growths untraced; /* of the last snapshot */
	struct rss first_rss;             /* of the first snapshot that has it, of one image */
	uint32_t first_rss_image;
	uint64_t baseline_ns;       /* of the last snapshot */
	uint64_t last_ns;           /* its elapsed_ns */
	uint64_t reports;           /* that were printed */
	uint64_t past[PAST_TOTALS]; /* what was outstanding, in bytes; oldest first */
	size_t past_cnt;
	bool names_noted; /* that some are missing, and how they come */
	bool recorded;    /* what is not in the snapshots cannot be asked for any more */
	bool last;        /* recorded: no report comes after this one; set by the caller */
	enum last_verdict verdict;
};

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret);
void reporter_deinit(struct reporter *reporter);

/*
 * Remembers what a snapshot has and prints its report if it is to be shown; one that was taken
 * between reports never is. Frames are named until
 * deadline_ns of CLOCK_MONOTONIC. 0 or a negative errno.
 */
int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show);

#endif
