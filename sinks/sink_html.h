/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of an HTML report. Private to sinks/sink_html*.c. */
#ifndef SINK_HTML_H
#define SINK_HTML_H

#include <stdio.h>

#include "report/report.h"

/* What its pictures are drawn from. 0 or -ENOMEM. */
int sink_html_write_data(FILE *out, const struct report *report);

#endif
