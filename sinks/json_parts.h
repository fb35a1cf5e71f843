/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that stand in several objects of a JSON report. */
#ifndef SINKS_JSON_PARTS_H
#define SINKS_JSON_PARTS_H

#include "report/report.h"
#include "sinks/json_writer.h"

/* "id" */
void json_write_id(struct json_writer *json, uint64_t id);
/* "pid" and "comm" */
void json_write_process(struct json_writer *json, const struct process *process);
/* "stack" */
void json_write_stack(struct json_writer *json, const struct report_site *shown);
/* "culprit" and "through": which entries of "stack" */
void json_write_blamed(struct json_writer *json, const struct report_site *shown);
/* "stack_end" */
void json_write_end(struct json_writer *json, enum stack_end end);
#define TIME_TEXT_SIZE 80

/* ISO 8601, UTC, milliseconds; false: beyond what a calendar has. */
bool time_text(int64_t wall_ns, char ret[TIME_TEXT_SIZE]);
/* "time": ISO 8601, UTC, milliseconds */
void json_write_time(struct json_writer *json, int64_t wall_ns);

/* An object with bytes and count. */
void json_write_totals(struct json_writer *json, const char *key, uint64_t bytes, uint64_t count);

/* "reserved" */
void json_write_reserved(struct json_writer *json, const struct reserved *reserved);

/* "lost" */
void json_write_lost(struct json_writer *json, const uint64_t *lost);

#endif
