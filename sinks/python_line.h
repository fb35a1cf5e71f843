/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes which containers and classes of a Python program grow, as text and as JSON. */
#ifndef SINKS_PYTHON_LINE_H
#define SINKS_PYTHON_LINE_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * True if python_write_growth() has something to write: a growing container, or a growing class for
 * whose objects the creating function is known.
 */
bool python_names_growth(const struct report *report);

/*
 * Writes which script line adds items to a growing container: "keep app.py:12 adds 14 items/s to
 * app.audit (list)". If no such line is known, writes the growth of the first container, "app.audit
 * (list) grows by 14 items/s", and of the first class for whose objects the creating function is
 * known: "Node objects grow by 12/s (Node.__init__ app.py:5)". Must be called only if
 * python_names_growth() returns true. name_max: maximum bytes of a function's name.
 */
void python_write_growth(FILE *out, const struct report *report, size_t name_max);

/*
 * Writes up to two lines about the growing containers and classes. Writes nothing if the report has
 * no suspect, no growth that cannot be judged yet, and no growing anonymous memory that is not
 * traced.
 */
void python_write_line(const struct text_part *part);

/* Writes the JSON object "python". snapshot->python must not be NULL. */
void python_write_json(struct json_writer *json, const struct report *report);

#endif
