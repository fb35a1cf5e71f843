/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report as metrics, with what memleak itself costs. Text in, text out: no I/O. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "metrics/own_cost.h"
#include "report/counts.h"
#include "report/report.h"

struct metrics {
	const struct report *report;        /* NULL: there is none yet, or it is of --count */
	const struct counts_report *counts; /* with --count */
	size_t top;                         /* so many entries of --count */
	const struct own_cost *own;
};

/* In one of the two forms of text.h. 0 or -ENOMEM. */
int metrics_write(FILE *out, const struct metrics *metrics, bool open_metrics);

#endif
