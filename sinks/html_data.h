/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the data of HTML reports. */
#ifndef SINKS_HTML_DATA_H
#define SINKS_HTML_DATA_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/*
 * html_write_data() writes the data from which a report's page draws its charts,
 * html_write_diff_data() the data for the page of a difference. Both functions return 0 or -ENOMEM.
 */
int html_write_data(FILE *out, const struct report *report);
int html_write_diff_data(FILE *out, const struct diff *diff);

#endif
