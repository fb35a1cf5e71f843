/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of which reports for people are made: times, names, stacks, notes. They know nothing of
 * the report's order.
 */
#ifndef SINKS_TEXT_PART_H
#define SINKS_TEXT_PART_H

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
void text_write_stack(const struct text_part *part, const struct report_site *shown);

/* A file and an offset, of what has no name; location may be NULL. */
void text_write_place(FILE *out, const struct sym_location *location);
/* After a blank, the end of the path of a source and the line; nothing if that is not known. */
void text_write_source(FILE *out, const struct sym_frame *frame);

/* The line that ends in "from stack", the stack, and what else there is to say. */
void text_write_site(const struct text_part *part, const struct report_site *shown);
/* In parentheses, in a line of its own; nothing if there is nothing to say. */
void text_write_notes(const struct text_part *part, const struct report_site *shown);
void text_write_group_notes(const struct text_part *part, const struct report_group *group);

/* Why a stack was cut; nothing if it was not. */
void text_write_end(const struct text_part *part, enum stack_end end);

/* The time of day. */
void text_write_clock(FILE *out, int64_t wall_ns);

/* Rounded down, so that nothing looks older than it is. */
void text_write_seconds(FILE *out, uint64_t ns);

/* In parentheses, after a blank. */
void text_write_name(FILE *out, const char *name);

/* Of estimates. */
void text_write_error(FILE *out, double bytes_variance, double count_variance);

/* What was lost, a line for each way; all: also those ways by which nothing was. */
void text_write_lost(FILE *out, const uint64_t *lost, bool all);

/* "1 site", "2 sites"; word: of one. */
void text_write_count(FILE *out, uint64_t cnt, const char *word);
/* "80 bytes, 1 allocation, 2 sites": scripts take "bytes in N allocations" for a stack. */
void text_write_sums(FILE *out, uint64_t bytes, uint64_t count, size_t site_cnt);

/* How much address space is left out, in a line of its own; none if there is none. */
void text_write_reserved(FILE *out, const struct reserved *reserved);

/* "(2 more stacks)", in a line of its own: what there was no room for. */
void text_write_more(FILE *out, const char *indent, size_t cnt, const char *word);

/* "stack", "process", ... */
const char *text_group_word(enum group_by by);
/* The letters that make its plural. */
const char *text_plural(const char *word);

bool text_several_processes(const struct snapshot *snap);

#endif
