/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What heaps held, as a table and lines, and as JSON: the part of a report that --census adds. */
#ifndef SINKS_CENSUS_H
#define SINKS_CENSUS_H

#include <stdio.h>

#include "report/report.h"
#include "sinks/json_writer.h"

/* All of these write nothing of a report without a census. */
void census_write_text(FILE *out, const struct report *report);
/* The lines below the table. */
void census_write_facts(FILE *out, const struct report *report);
void census_write_html(FILE *out, const struct report *report);
/* "census" */
void census_write_json(struct json_writer *json, const struct heap_census *census);

#endif
