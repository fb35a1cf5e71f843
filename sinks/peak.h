/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a report that --peak adds, in both formats. */
#ifndef SINKS_PEAK_H
#define SINKS_PEAK_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"

void peak_write_text(FILE *out, const struct report *report, bool with_process);
/* An object of that name; null if nothing was outstanding so far. */
void peak_write_json(struct json_writer *json, const struct report *report);

#endif
