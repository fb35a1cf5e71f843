/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the part of a report that --peak adds, as text and as JSON. */
#ifndef SINKS_PEAK_H
#define SINKS_PEAK_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* Writes one line with the totals of the peak. */
void peak_write_fact(const struct text_part *part);
/* Writes the line with the totals of the peak, and the sites of the peak, indented by one step. */
void peak_write_text(const struct text_part *part);
/* Writes the JSON object "peak"; null if no memory was ever outstanding. */
void peak_write_json(struct json_writer *json, const struct report *report);

#endif
