/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the data of HTML reports. */
#ifndef SINKS_HTML_DATA_H
#define SINKS_HTML_DATA_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/* Write the data from which the page draws its charts. Both functions return 0 or -ENOMEM. */
int html_write_data(FILE *out, const struct report *report);
int html_write_diff_data(FILE *out, const struct diff *diff);

#endif
