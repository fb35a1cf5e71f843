/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main loop: waits, reports at each interval, and takes the last report. */
#ifndef RUN_H
#define RUN_H

#include "loader/options.h"
#include "loader/output.h"
#include "loader/recording.h"
#include "loader/source.h"

struct run_result {
	bool outstanding; /* the last report had something */
	bool reader_gone; /* whoever read the reports has closed the pipe */
};

/*
 * Blocks the signals that end a run; the loop takes them from a descriptor. Call it before any
 * other process is started: those must not inherit the mask.
 */
int run_block_signals(void);

/* From the ready line to the final report; recorder may be NULL. 0 or a negative errno; has said
 * what failed. */
int run_reports(const struct options *opts, struct source *source, struct output *out,
		struct recorder *recorder, struct run_result *ret);

#endif
