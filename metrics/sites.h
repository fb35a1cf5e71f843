/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of the sites and groups that a report shows. Private to metrics/. */
#ifndef METRICS_SITES_H
#define METRICS_SITES_H

#include "metrics/text.h"
#include "report/report.h"

/*
 * Write all metrics of sites, or of groups if there are any. Each metric has a row for each shown
 * site or group, in the report's order. metrics_write_sites() returns 0 or -ENOMEM.
 */
int metrics_write_sites(struct metrics_text *text, const struct report *report);
void metrics_write_groups(struct metrics_text *text, const struct report *report);

/*
 * Begins the row of a site. The label `site` distinguishes sites whose other labels are equal. If
 * is_template is true, a template function has the name that all its instances share.
 */
void metrics_begin_site(struct metrics_text *text, const struct report_site *shown,
			bool is_template);

/* Adds labels for a process, unless it is NULL. */
void metrics_label_process(struct metrics_text *text, const struct process *process);

/* Returns how many rows a metric has if the report shows `shown` sites, groups or counts. */
size_t metrics_rows(size_t shown);

#endif
