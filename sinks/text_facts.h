/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is true of a report as a whole, in words. */
#ifndef SINKS_TEXT_FACTS_H
#define SINKS_TEXT_FACTS_H

#include <stdio.h>

#include "report/report.h"

/* "; all stacks are complete", or how many are; nothing if nothing is outstanding. */
void text_write_complete(FILE *out, const struct report *report);

/* A line for each kind of loss that concerns more than 1 % of what the report is about. */
void text_write_incomplete(FILE *out, const struct report *report);

/* The last lines of a report: totals, how exact they are, what was lost. */
void text_write_facts(FILE *out, const struct report *report);

/* Whose memory it is: "leak (4711)", "several processes", "the kernel". */
void text_write_target(FILE *out, const struct report *report);

#endif
