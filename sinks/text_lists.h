/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes sites, groups and events as lines, for people and in bcc's format. */
#ifndef SINKS_TEXT_LISTS_H
#define SINKS_TEXT_LISTS_H

#include "report/trace_event.h"
#include "sinks/text_part.h"

/* Writes a site, and its blocks if the report lists blocks. */
void text_write_listed_site(const struct text_part *part, const struct report_site *shown);
/*
 * Writes the groups of --by. The sites of each group are indented below it. Sites name their
 * processes only if the group does not name one.
 */
void text_write_groups(const struct text_part *part);
/* Writes the largest block of each process. */
void text_write_largest(const struct text_part *part);
/* Writes a line of --trace, and its stack. */
void text_write_event(FILE *out, const struct trace_event *event);

#endif
