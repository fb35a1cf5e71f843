/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report for people. Private to loader/sink_text*.c. */
#ifndef SINK_TEXT_H
#define SINK_TEXT_H

#include <stdio.h>

#include "loader/report.h"

/* In parentheses, in a line of its own; nothing if there is nothing to say. */
void sink_text_write_notes(FILE *out, const struct report *report, const struct report_site *shown,
			   bool with_process);

/* Of estimates. */
void sink_text_write_error(FILE *out, double bytes_variance, double count_variance);

/* Rounded down, so that nothing looks older than it is. */
void sink_text_write_seconds(FILE *out, uint64_t ns);

#endif
