/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes how much CPU time tracing takes from the traced processes, as text and as JSON. Writes
 * nothing if this is not known.
 */
#ifndef SINKS_COST_H
#define SINKS_COST_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* Writes the cost. If the cost is high, also suggests how to lower it. */
void cost_write_text(const struct text_part *part);
/* Writes the JSON objects "tracing_cost" and "max_overhead". */
void cost_write_json(struct json_writer *json, const struct snapshot *snap);

#endif
