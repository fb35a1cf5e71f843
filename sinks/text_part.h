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
/* As bcc's memleak writes it, or for people alone. */
enum text_look {
	LOOK_BCC,
	LOOK_PLAIN,
	LOOK_COLOUR,
	LOOK_MARKED, /* styles are characters of their own, for who makes markup of them */
};

struct text_part {
	FILE *out;
	const struct report *report; /* NULL: of an event */
	const char *indent;          /* of a site's line; its frames stand one tab further in */
	bool with_process;
	enum text_look look;
	/* Whose stack stands above: outer frames that it has, too, are not repeated. */
	const struct report_site *above;
	/* In text_write_stack(): long names are without arguments of templates. */
	bool short_names;
};

enum text_style { STYLE_LOST, STYLE_GROWS, STYLE_CULPRIT, STYLE_DIM, STYLE_BOLD, STYLE_CNT };

/* With LOOK_MARKED: no name has such characters. */
#define TEXT_MARK_BEGIN 1 /* plus the style */
#define TEXT_MARK_END 14

/* What is written between is coloured, if anything is. */
void text_begin_style(const struct text_part *part, enum text_style style);
void text_end_style(const struct text_part *part);

/* Before a line that stands for itself: with bcc's look the time of day. */
void text_begin_line(const struct text_part *part);

/* From the first frame on that is not the allocator's. */
void text_write_stack(const struct text_part *part, const struct report_site *shown);

/*
 * For people alone: the function that the memory is for is marked, runs of frames of a runtime or
 * of the standard library are one line, and what calls main is left out, unless all are wanted.
 */
void text_write_folded_stack(const struct text_part *part, const struct report_site *shown);

/* A function's name in short, with at most so many bytes. */
void text_write_function(FILE *out, const char *symbol, size_t max);
/* "[libc.so.6]"; "[vdso]" comes with its brackets. */
void text_write_module(FILE *out, const char *module);
/* Long names without their middle. */
void text_write_short_module(FILE *out, const char *module);
/* "stack not known", in a line of its own, and why. */
void text_write_no_stack(const struct text_part *part);

/* A file and an offset, of what has no name; location may be NULL. */
void text_write_place(FILE *out, const struct sym_location *location);
/* After a blank, the end of the path of a source and the line; nothing if that is not known. */
void text_write_source(FILE *out, const struct sym_frame *frame);
/*
 * The same where the function's name stands alone, long paths without their middle: the place of a
 * script's function is in its symbol.
 */
bool text_has_source(const struct sym_frame *frame);
void text_write_short_source(FILE *out, const struct sym_frame *frame);

/* The line with the sums, which ends in "from stack" for bcc, the stack, and what else there is to
 * say. */
void text_write_site(const struct text_part *part, const struct report_site *shown);
/* In parentheses, in a line of its own; nothing if there is nothing to say. */
void text_write_notes(const struct text_part *part, const struct report_site *shown);
void text_write_group_notes(const struct text_part *part, const struct report_group *group);

/* Who holds it, from the root down; nothing if that is not known. */
void text_write_chain(FILE *out, const struct report_site *shown);

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

#define AMOUNT_TEXT_SIZE 32

/* "80 bytes", "1.2 MiB" */
void text_amount(double bytes, char ret[AMOUNT_TEXT_SIZE]);

/* Writes an amount of a report's blocks: as above, or "3 descriptors". */
void text_write_held(const struct text_part *part, uint64_t bytes);
/* Writes by how much that has changed: as above, or "3". */
void text_write_change(const struct text_part *part, uint64_t bytes);
/* Adds "in 4 blocks", unless they are descriptors. */
void text_write_held_in_blocks(const struct text_part *part, uint64_t bytes, uint64_t count);

/* True if a report is of descriptors, and not of memory. */
bool text_is_of_descriptors(const struct text_part *part);

/* "definite: 80 bytes in 1 block" */
void text_write_reach(FILE *out, enum reach reach, const struct reach_sum *sum);

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
