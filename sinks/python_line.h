/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes which containers and classes of a Python program grow, as text and as JSON. */
#ifndef SINKS_PYTHON_LINE_H
#define SINKS_PYTHON_LINE_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* True if a container or the place of a class is known that python_write_growth() names. */
bool python_names_growth(const struct report *report);

/*
 * Writes the line of the script that adds items to a growing container: "keep app.py:12 adds 14
 * items/s to app.audit (list)". If that line is not known, writes the growth of the container,
 * "app.audit (list) grows by 14 items/s", and of the first class whose place is known: "Node
 * objects grow by 12/s (Node.__init__ app.py:5)". python_names_growth() must be true. name_max:
 * maximum bytes of a function's name.
 */
void python_write_growth(FILE *out, const struct report *report, size_t name_max);

/*
 * Writes up to two lines about the growing containers and classes; nothing if the report has
 * neither a suspect nor a runtime whose objects may be growing.
 */
void python_write_line(const struct text_part *part);

/* Writes the JSON object "python". The report must have growth of Python's objects. */
void python_write_json(struct json_writer *json, const struct report *report);

#endif
