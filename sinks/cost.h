/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tracing costs, as lines and as JSON; nothing where that is not known. */
#ifndef SINKS_COST_H
#define SINKS_COST_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* With the ways out, if it costs much. */
void cost_write_text(const struct text_part *part);
/* An object "tracing_cost". */
void cost_write_json(struct json_writer *json, const struct tracing_cost *cost);

#endif
