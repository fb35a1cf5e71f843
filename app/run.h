/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the main loop, which makes a report at each interval, and the last report. */
#ifndef APP_RUN_H
#define APP_RUN_H

#include "app/prover.h"
#include "app/report_thread.h"
#include "app/reporter.h"
#include "loader/source.h"
#include "metrics/listen.h"
#include "options/options.h"
#include "recording/recording.h"
#include "screen/screen.h"
#include "sinks/output.h"

struct run_result {
	enum last_verdict verdict;
	bool reader_gone; /* true if the reader of the output has closed the pipe */
};

/* Objects that the caller has created, and frees. */
struct run_parts {
	struct run_facts facts;
	struct source *source;
	struct output *out;
	struct metrics_server *server; /* server of --listen, or NULL */
	struct screen *screen;         /* screen of --live, or NULL */
	/* the option show_allocs of the source, which is set while the screen lists threads */
	bool *splits_threads;
	struct recorder *recorder; /* writer of --record, or NULL */
	struct report_thread *thread;
	struct prover *prover;
};

/*
 * Runs until the last report has been made. The caller must have blocked signals by
 * signals_hold_all(). Returns 0 or a negative errno; logs errors.
 */
int run_reports(const struct options *opts, const struct run_parts *parts, struct run_result *ret);

#endif
