/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics of the sites and groups that a report shows. Private to metrics/. */
#ifndef METRICS_SITES_H
#define METRICS_SITES_H

#include "metrics/text.h"
#include "report/report.h"

/*
 * Write one row for each site or group, in the order of reports. metrics_write_sites() returns 0 or
 * -ENOMEM.
 */
int metrics_write_sites(struct metrics_text *text, const struct report *report);
void metrics_write_groups(struct metrics_text *text, const struct report *report);

/*
 * Begins the row of a site. Several sites can have equal labels; the label `site` distinguishes
 * them. If is_template, uses the name that all instances of the blamed template share.
 */
void metrics_begin_site(struct metrics_text *text, const struct report_site *shown,
			bool is_template);

/* Adds labels for a process; nothing if it is NULL. */
void metrics_label_process(struct metrics_text *text, const struct process *process);

/* Returns how many of the shown sites, groups or counts get a row. */
size_t metrics_rows(size_t shown);

#endif
