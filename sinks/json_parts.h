/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes keys that several objects of a JSON report have in common. */
#ifndef SINKS_JSON_PARTS_H
#define SINKS_JSON_PARTS_H

#include "report/report.h"
#include "sinks/json_writer.h"

/* Writes the JSON key "id": a number as 16 hex digits. */
void json_write_id(struct json_writer *json, uint64_t id);
/* Writes the JSON keys "pid" and "comm"; null if `process` is NULL. */
void json_write_process(struct json_writer *json, const struct process *process);
/* Writes the JSON array "stack", innermost function first. */
void json_write_stack(struct json_writer *json, const struct report_site *shown);
/*
 * Writes the JSON keys "culprit" and "through": the positions, in the array "stack", of the blamed
 * function and of the library function that it called.
 */
void json_write_blamed(struct json_writer *json, const struct report_site *shown);
/* Writes the JSON key "stack_end", which says whether the stack is complete. */
void json_write_end(struct json_writer *json, enum stack_end end);
#define TIME_TEXT_SIZE 80

/*
 * Formats a time as ISO 8601 in UTC with milliseconds. Returns false if the time is out of the
 * range of dates.
 */
bool time_text(int64_t wall_ns, char ret[TIME_TEXT_SIZE]);
/* Writes the JSON key "time", in the format of time_text(). */
void json_write_time(struct json_writer *json, int64_t wall_ns);

/* Writes a JSON object with the keys "bytes" and "count". */
void json_write_totals(struct json_writer *json, const char *key, uint64_t bytes, uint64_t count);

/* Writes the JSON object "reserved": reserved address space. */
void json_write_reserved(struct json_writer *json, const struct reserved *reserved);

/* Writes the JSON object "lost", which has a key for each kind of loss (enum loss). */
void json_write_lost(struct json_writer *json, const uint64_t *lost);

#endif
