/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the part of a report that --census adds, as text and as JSON. */
#ifndef SINKS_CENSUS_H
#define SINKS_CENSUS_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"

/* All functions of this header write nothing if the report has no census. */
void census_write_text(FILE *out, const struct report *report);
/* Writes the lines of text about the heap as a whole, which follow the table of chunk sizes. */
void census_write_facts(FILE *out, const struct report *report);
void census_write_html(FILE *out, const struct report *report);
/* Writes the JSON key "census". */
void census_write_json(struct json_writer *json, const struct heap_census *census);

#endif
