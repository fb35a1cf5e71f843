/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of a report's verdict. Private to metrics.c. */
#ifndef METRICS_VERDICT_H
#define METRICS_VERDICT_H

#include "metrics/text.h"
#include "report/report.h"

/* Writes the verdict, a row for each suspect, and the Python containers and classes that grow. */
void metrics_write_verdict(struct metrics_text *text, const struct report *report);

#endif
