/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes which containers and classes of a Python program grow, as text and as JSON. */
#ifndef SINKS_PYTHON_LINE_H
#define SINKS_PYTHON_LINE_H

#include <stdio.h>

#include "report/python_growth.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* Writes a container: "app.audit (list) grows by 14 items/s". */
void python_write_container(FILE *out, const struct python_container *container);

/*
 * Writes up to two lines about the growing containers and classes; nothing if the report has
 * neither a suspect nor a runtime whose objects may be growing.
 */
void python_write_line(const struct text_part *part);

/* Writes the JSON object "python". */
void python_write_json(struct json_writer *json, const struct python_growth *python);

#endif
