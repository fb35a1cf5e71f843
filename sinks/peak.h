/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a report that --peak adds, in each format. */
#ifndef SINKS_PEAK_H
#define SINKS_PEAK_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* The line about it as a whole. */
void peak_write_fact(FILE *out, const struct report *report);
/* Its sites stand further in than the part's. */
void peak_write_text(const struct text_part *part);
/* An object of that name; null if nothing was outstanding so far. */
void peak_write_json(struct json_writer *json, const struct report *report);

#endif
