/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes lists in a text report, for people and in bcc's format: sites with their blocks, groups,
 * largest blocks, events of --trace.
 */
#ifndef SINKS_TEXT_LISTS_H
#define SINKS_TEXT_LISTS_H

#include "report/trace_event.h"
#include "sinks/text_part.h"

/* Writes a site, and its blocks if the report lists blocks. */
void text_write_listed_site(const struct text_part *part, const struct report_site *shown);
/*
 * Writes the groups of --by. The sites of each group are indented below the group's line. A site
 * names its process only if the group does not.
 */
void text_write_groups(const struct text_part *part);
/* Writes the largest block of each process. */
void text_write_largest(const struct text_part *part);
/* Writes a line of --trace, and its stack. */
void text_write_event(FILE *out, const struct trace_event *event);

#endif
