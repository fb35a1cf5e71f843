/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main loop: waits, reports at each interval, and takes the last report. */
#ifndef APP_RUN_H
#define APP_RUN_H

#include "app/report_thread.h"
#include "loader/source.h"
#include "metrics/listen.h"
#include "options/options.h"
#include "recording/recording.h"
#include "sinks/output.h"

struct run_result {
	bool outstanding; /* the last report had something */
	bool reader_gone; /* whoever read the reports has closed the pipe */
};

/*
 * From the ready line to the final report; signals are held. server: that of --listen, or NULL;
 * thread: has been started.
 * 0 or a negative errno; has said what failed.
 */
int run_reports(const struct options *opts, struct source *source, struct output *out,
		struct server *server, struct recorder *recorder, struct report_thread *thread,
		struct run_result *ret);

#endif
