/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what was suppressed, and proposes suppressions. */
#ifndef SINKS_SUPPRESSIONS_H
#define SINKS_SUPPRESSIONS_H

#include "report/report.h"
#include "sinks/json_writer.h"

/* Writes a line with the sum of suppressed blocks; nothing if there are none. */
void suppressions_write_text(FILE *out, const struct snapshot *snap);
/*
 * Writes a line with the sum of blocks that libraries allocate at start-up and keep; nothing if
 * these are shown or there are none.
 */
void suppressions_write_runtime_init(FILE *out, const struct runtime_init *runtime_init);
/* Writes "suppressed", by pattern, and "start_up". */
void suppressions_write_json(struct json_writer *json, const struct report *report);

/*
 * Writes suppressions for the shown sites in the format of a suppression file, for
 * --gen-suppressions.
 */
void suppressions_propose_text(FILE *out, const struct report *report);
/* Writes "suppression", the pattern for one site; null if its function has no name. */
void suppressions_propose_json(struct json_writer *json, const struct report_site *shown);

#endif
