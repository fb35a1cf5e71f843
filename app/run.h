/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main loop: waits, reports at each interval, and takes the last report. */
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
	bool reader_gone; /* whoever read the reports has closed the pipe */
};

/* What a run works with, each of them made before. */
struct run_parts {
	struct source *source;
	struct output *out;
	struct server *server;     /* of --listen; NULL: none */
	struct screen *screen;     /* of --live; NULL: none */
	bool *splits_threads;      /* an option of the source's, which the screen changes */
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct report_thread *thread;
	struct prover *prover;
};

/*
 * From the ready line to the final report; signals are held. 0 or a negative errno; has said what
 * failed.
 */
int run_reports(const struct options *opts, const struct run_parts *parts, struct run_result *ret);

#endif
