/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What reports say of growth: which sites seem to leak, and why. */
#ifndef SINKS_VERDICT_H
#define SINKS_VERDICT_H

#include "report/report.h"
#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/* A line for each loss and each suspect. */
void verdict_write_text(const struct text_part *part);

/* "trend"; null if there is no history. */
void verdict_write_trend(struct json_writer *json, const struct site_history *history);

/* "ages": the classes of age that have blocks. */
void verdict_write_ages(struct json_writer *json, const struct ages *ages);

#endif
