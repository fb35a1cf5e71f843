/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites, groups and events as lines: what reports for people and for bcc's readers have alike. */
#ifndef SINKS_TEXT_LISTS_H
#define SINKS_TEXT_LISTS_H

#include "report/trace_event.h"
#include "sinks/text_part.h"

/* With its blocks, if they are asked for. */
void text_write_listed_site(const struct text_part *part, const struct report_site *shown);
/* The groups of --by, each with its sites further in; with_process of these is told by the group.
 */
void text_write_groups(const struct text_part *part);
/* The largest allocation of each process. */
void text_write_largest(const struct text_part *part);
/* A line of --trace, and its stack. */
void text_write_event(FILE *out, const struct trace_event *event);

#endif
