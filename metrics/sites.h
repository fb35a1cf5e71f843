/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of what a report lists: sites, and what --by sums them up to. Part of metrics.c. */
#ifndef METRICS_SITES_H
#define METRICS_SITES_H

#include "metrics/text.h"
#include "report/report.h"

/* What matters most first, as in reports. 0 or -ENOMEM. */
int metrics_write_sites(struct metrics_text *text, const struct report *report);
void metrics_write_groups(struct metrics_text *text, const struct report *report);

/* How many rows there are of what is shown. */
size_t metrics_rows(size_t shown);

#endif
