/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the parts of a report that --stats and --summary add, as text and as JSON. */
#ifndef SINKS_STATS_H
#define SINKS_STATS_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

void stats_write_text(FILE *out, const struct snapshot *snap);
/* Writes the JSON object "stats". */
void stats_write_json(struct json_writer *json, const struct snapshot *snap);

void stats_write_summary(const struct text_part *part);
/* Writes the JSON array "summary". */
void stats_write_json_summary(struct json_writer *json, const struct report *report);

#endif
