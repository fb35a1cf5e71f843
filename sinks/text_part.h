/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes pieces of reports for people: times, names, stacks, notes. It knows nothing of the order
 * of a report.
 */
#ifndef SINKS_TEXT_PART_H
#define SINKS_TEXT_PART_H

#include <stdio.h>

#include "report/report.h"

/* Style of a report: that of bcc's memleak, or one for people */
enum text_look {
	LOOK_BCC,
	LOOK_PLAIN,
	LOOK_COLOUR,
	LOOK_MARKED, /* styles are control characters, which the HTML sink turns into tags */
};

struct text_part {
	FILE *out;
	const struct report *report; /* NULL for an event */
	const char *indent; /* indentation of a site's line; frames are indented by one more tab */
	bool with_process;
	enum text_look look;
	/* The site whose stack is written above; outer frames shared with it are not repeated. */
	const struct report_site *above;
	/* In text_write_stack(): leave template arguments out of long names. */
	bool short_names;
};

enum text_style { STYLE_LOST, STYLE_GROWS, STYLE_CULPRIT, STYLE_DIM, STYLE_BOLD, STYLE_CNT };

/* Control characters that begin and end a style with LOOK_MARKED; names never contain them. */
#define TEXT_MARK_BEGIN 1 /* add the style */
#define TEXT_MARK_END 14

/* Begin and end coloured text; do nothing without colours. */
void text_begin_style(const struct text_part *part, enum text_style style);
void text_end_style(const struct text_part *part);

/* Begins a separate line. In bcc's format, writes the time of day. */
void text_begin_line(const struct text_part *part);

/* Writes the stack from the first frame outside the allocator on. */
void text_write_stack(const struct text_part *part, const struct report_site *shown);

/*
 * Writes a folded stack for people: the blamed function is marked, a run of frames of a runtime or
 * of the standard library is one line, and callers of main are left out, unless all frames are
 * requested.
 */
void text_write_folded_stack(const struct text_part *part, const struct report_site *shown);

/* Writes the short name of a function, cut to max bytes. */
void text_write_function(FILE *out, const char *symbol, size_t max);
/* Writes "[libc.so.6]"; adds no brackets to "[vdso]". */
void text_write_module(FILE *out, const char *module);
/* Writes the name of a module in brackets; cuts the middle of long names. */
void text_write_short_module(FILE *out, const char *module);
/* Writes a line "stack not known", with the reason. */
void text_write_no_stack(const struct text_part *part);

/* Writes file+offset for a frame without a name; location may be NULL. */
void text_write_place(FILE *out, const struct sym_location *location);
/* Writes a blank, the end of the source path and the line; nothing if the source is not known. */
void text_write_source(FILE *out, const struct sym_frame *frame);
/*
 * text_write_short_source() is like text_write_source(), but cuts the middle of long paths. Both
 * functions also find the file and line of a script's function in its symbol.
 */
bool text_has_source(const struct sym_frame *frame);
void text_write_short_source(FILE *out, const struct sym_frame *frame);

/* Writes the line with the sums (which ends in "from stack" for bcc), the stack and the notes. */
void text_write_site(const struct text_part *part, const struct report_site *shown);
/* Write a line of notes in parentheses; nothing if there are none. */
void text_write_notes(const struct text_part *part, const struct report_site *shown);
void text_write_group_notes(const struct text_part *part, const struct report_group *group);

/* Writes the chain of holders from the root down; nothing if it is not known. */
void text_write_chain(FILE *out, const struct report_site *shown);

/* Writes why a stack was cut; nothing if it was not. */
void text_write_end(const struct text_part *part, enum stack_end end);

/* Writes the time of day. */
void text_write_clock(FILE *out, int64_t wall_ns);

/* Writes seconds, rounded down, so that no age is overstated. */
void text_write_seconds(FILE *out, uint64_t ns);

/* Writes a blank, and the name in parentheses. */
void text_write_name(FILE *out, const char *name);

/* Writes the standard errors of estimates. */
void text_write_error(FILE *out, double bytes_variance, double count_variance);

/* Writes a line for each kind of loss; if all is set, also for those that did not occur. */
void text_write_lost(FILE *out, const uint64_t *lost, bool all);

/* Writes "1 site" or "2 sites"; word is the singular. */
void text_write_count(FILE *out, uint64_t cnt, const char *word);
/*
 * Writes "80 bytes, 1 allocation, 2 sites". Not "80 bytes in 1 allocation", which scripts would
 * take for a stack.
 */
void text_write_sums(FILE *out, uint64_t bytes, uint64_t count, size_t site_cnt);

#define AMOUNT_TEXT_SIZE 32

/* Formats an amount, such as "80 bytes" or "1.2 MiB". */
void text_amount(double bytes, char ret[AMOUNT_TEXT_SIZE]);

/* Writes an amount, such as "1.2 MiB", or "3 descriptors" if the report is of descriptors. */
void text_write_held(const struct text_part *part, uint64_t bytes);
/* Writes a change, such as "1.2 MiB", or "3" if the report is of descriptors. */
void text_write_change(const struct text_part *part, uint64_t bytes);
/* Writes an amount with "in 4 blocks", or without if the report is of descriptors. */
void text_write_held_in_blocks(const struct text_part *part, uint64_t bytes, uint64_t count);

/* True if a report is of descriptors, and not of memory. */
bool text_is_of_descriptors(const struct text_part *part);

/* Writes, for example, "definite: 80 bytes in 1 block". */
void text_write_reach(FILE *out, enum reach reach, const struct reach_sum *sum);

/* Writes a line with the address space that the report leaves out; nothing if there is none. */
void text_write_reserved(FILE *out, const struct reserved *reserved);

/* Writes a line such as "(2 more stacks)" for entries that are not shown. */
void text_write_more(FILE *out, const char *indent, size_t cnt, const char *word);

/* Returns "stack", "process" and so on. */
const char *text_group_word(enum group_by by);
/* Returns the ending of the plural of word. */
const char *text_plural(const char *word);

bool text_several_processes(const struct snapshot *snap);

#endif
