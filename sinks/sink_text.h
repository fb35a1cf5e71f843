/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the report for people. Private to sinks/sink_text*.c. */
#ifndef SINK_TEXT_H
#define SINK_TEXT_H

#include <stdio.h>

#include "report/report.h"

/*
 * A part of the report that is written further in: below a group, where the process that the
 * sites belong to may have been said.
 */
struct text_part {
	FILE *out;
	const struct report *report; /* NULL: of an event */
	const char *indent;          /* of a site's line; its frames stand one tab further in */
	bool with_process;
};

/* From the first frame on that is not the allocator's. */
void sink_text_write_stack(const struct text_part *part, const struct report_site *shown);

/*
 * In one line: the function whose memory it is, where its code is, so many functions that
 * called it, and whose it is.
 */
void sink_text_write_culprit(const struct text_part *part, const struct report_site *shown,
			     unsigned int callers);

/* In parentheses, in a line of its own; nothing if there is nothing to say. */
void sink_text_write_notes(const struct text_part *part, const struct report_site *shown);
/* The same of a group. */
void sink_text_write_group_notes(const struct text_part *part, const struct report_group *group);

/* Why a stack was cut; nothing of others. */
void sink_text_write_end(const struct text_part *part, enum unwind_end end);

/* The time of day. */
void sink_text_write_clock(FILE *out, int64_t wall_ns);

/* "stacks", "processes", ... */
const char *sink_text_group_word(enum group_by by);

/* In parentheses, after a blank. */
void sink_text_write_name(FILE *out, const char *name);

/* The last lines of a report: totals, how exact they are, what was lost. */
void sink_text_write_facts(FILE *out, const struct report *report);
bool sink_text_several_processes(const struct snapshot *snap);
/* Whose memory this is: "leak (4711)", "3 processes", "the kernel". */
void sink_text_write_target(FILE *out, const struct report *report);

/* What was lost; all: also those ways by which nothing was. */
void sink_text_write_lost(FILE *out, const uint64_t *lost, bool all);

/* Of estimates. */
void sink_text_write_error(FILE *out, double bytes_variance, double count_variance);

/* Rounded down, so that nothing looks older than it is. */
void sink_text_write_seconds(FILE *out, uint64_t ns);

#endif
