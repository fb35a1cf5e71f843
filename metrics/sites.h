/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of the sites and groups that a report lists. Part of metrics.c. */
#ifndef METRICS_SITES_H
#define METRICS_SITES_H

#include "metrics/text.h"
#include "report/report.h"

/* Write the rows in the order of reports. Return 0 or -ENOMEM. */
int metrics_write_sites(struct metrics_text *text, const struct report *report);
void metrics_write_groups(struct metrics_text *text, const struct report *report);

/* Returns the number of rows for what is shown. */
size_t metrics_rows(size_t shown);

#endif
