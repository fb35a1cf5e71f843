/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a report and memleak's own cost as metrics to a stream. Does no other I/O. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "metrics/own_cost.h"
#include "report/counts.h"
#include "report/report.h"

struct metrics {
	/* latest report; NULL before the first one, and with --count */
	const struct report *report;
	const struct counts_report *counts; /* latest report of --count; NULL without --count */
	size_t top;                         /* maximum number of rows of --count */
	const struct own_cost *own;
};

/*
 * Writes the metrics as OpenMetrics or, if open_metrics is false, in the Prometheus format (see
 * text.h). Returns 0 or -ENOMEM.
 */
int metrics_write(FILE *out, const struct metrics *metrics, bool open_metrics);

#endif
