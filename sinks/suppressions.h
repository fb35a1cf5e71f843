/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports say of suppressions, and those they propose. */
#ifndef SINKS_SUPPRESSIONS_H
#define SINKS_SUPPRESSIONS_H

#include "report/report.h"
#include "sinks/json_writer.h"

/* A line with what was suppressed; none if nothing was. */
void suppressions_write_text(FILE *out, const struct snapshot *snap);
/* The same of what libraries keep for themselves, where that is not shown. */
void suppressions_write_runtime_init(FILE *out, const struct runtime_init *runtime_init);
/* "suppressed", by pattern, and "start_up". */
void suppressions_write_json(struct json_writer *json, const struct report *report);

/* --gen-suppressions: lines for the sites that are shown, as a file would have them. */
void suppressions_propose_text(FILE *out, const struct report *report);
/* "suppression": the pattern for one site; null if its function has no name. */
void suppressions_propose_json(struct json_writer *json, const struct report_site *shown);

#endif
