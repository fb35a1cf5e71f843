/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes verdicts: which sites seem to leak, and why. */
#ifndef SINKS_VERDICT_H
#define SINKS_VERDICT_H

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * Returns the options that show more of a part of the footprint, such as "-K --movable"; NULL if
 * there are none, or if the run is known to have them.
 */
const char *verdict_options_of(const struct report *report, enum footprint_part footprint);

/* Writes the verdict of the report as one sentence, without a newline. */
void verdict_write_sentence(const struct text_part *part);

/* Writes a line for each thing that grows without being a suspect, or cannot be judged. */
void verdict_write_notes(const struct text_part *part);

/*
 * Write the line of the verdict, and a line for each loss, each suspect and each note. A loss or
 * suspect that the line of the verdict names has no line of its own.
 */
void verdict_write_first(const struct text_part *part);
void verdict_write_reasons(const struct text_part *part);
/* Calls verdict_write_first() and verdict_write_reasons(). */
void verdict_write_text(const struct text_part *part);

/* Writes the JSON key "trend"; its value is null if there is no history. */
void verdict_write_trend(struct json_writer *json, const struct site_history *history);

/* Writes the JSON key "ages": the age classes that have blocks. */
void verdict_write_ages(struct json_writer *json, const struct ages *ages);

#endif
