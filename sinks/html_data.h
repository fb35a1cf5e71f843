/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of an HTML report. */
#ifndef SINKS_HTML_DATA_H
#define SINKS_HTML_DATA_H

#include <stdio.h>

#include "report/diff.h"
#include "report/report.h"

/* What its pictures are drawn from. 0 or -ENOMEM; so below. */
int html_write_data(FILE *out, const struct report *report);
int html_write_diff_data(FILE *out, const struct diff *diff);

#endif
