/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes verdicts: which sites seem to leak, and why. */
#ifndef SINKS_VERDICT_H
#define SINKS_VERDICT_H

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * Returns the options that show more of a part of the footprint, such as "-K --movable". Returns
 * NULL if no options do, or if this run is known to have them.
 */
const char *verdict_options_of(const struct report *report, enum footprint_part footprint);

/* Writes the verdict of the report as one sentence, without a newline. */
void verdict_write_sentence(const struct text_part *part);

/* Writes a line for everything that grows but is no suspect, or that cannot be judged yet. */
void verdict_write_notes(const struct text_part *part);

/*
 * verdict_write_first() writes the sentence of the verdict as a line. verdict_write_reasons()
 * writes a line for each loss, suspect and note. A loss or suspect that is named in the sentence
 * has no line.
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
