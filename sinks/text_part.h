/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes parts of reports for people: times, names, stacks, notes. Knows nothing of the order of
 * the parts in a report.
 */
#ifndef SINKS_TEXT_PART_H
#define SINKS_TEXT_PART_H

#include <stdio.h>

#include "report/report.h"

/* Style of a report: the style of bcc's memleak, or a style for people */
enum text_look {
	LOOK_BCC,
	LOOK_PLAIN,
	LOOK_COLOUR,
	LOOK_UNSIGNED, /* like LOOK_PLAIN, but without the signs of verdicts, such as ▲ */
	/* For the HTML sink: styles are control characters, which it turns into tags. */
	LOOK_MARKED,
};

struct text_part {
	FILE *out;
	const struct report *report; /* NULL when an event is written */
	const char *indent;          /* indentation of a site's first line, which has its sums */
	bool with_process;
	enum text_look look;
	/*
	 * The site whose stack was written immediately before. Outer frames in common with it are
	 * not written again. NULL if there is none.
	 */
	const struct report_site *above;
	/* In text_write_stack(): true if template arguments are left out of long names. */
	bool short_names;
};

enum text_style {
	STYLE_LOST,
	STYLE_GROWS,
	STYLE_STEADY,
	STYLE_OPEN, /* the verdict is not known yet */
	STYLE_CULPRIT,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_CNT
};

/* With LOOK_MARKED: control characters that begin and end a style. Names never contain them. */
#define TEXT_MARK_BEGIN 1 /* the character is this number plus the enum text_style */
#define TEXT_MARK_END 14

/* Begin and end a style; do nothing unless the look is LOOK_COLOUR or LOOK_MARKED. */
void text_begin_style(const struct text_part *part, enum text_style style);
void text_end_style(const struct text_part *part);
/*
 * Writes the sign of a verdict's style, such as ▲. Writes nothing in bcc's format and with
 * LOOK_UNSIGNED.
 */
void text_write_sign(const struct text_part *part, enum text_style style);

/* Begins a line that belongs to no site. In bcc's format, the line begins with the time of day. */
void text_begin_line(const struct text_part *part);

/* Writes a stack. The first frame is the innermost one outside the allocator. */
void text_write_stack(const struct text_part *part, const struct report_site *shown);

/*
 * Writes a stack for people, in folded form: the blamed function is marked, adjacent frames of a
 * runtime or of the standard library are one line, and callers of main are left out. With
 * --all-frames, the stack is not folded.
 */
void text_write_folded_stack(const struct text_part *part, const struct report_site *shown);

/* Writes the short name of a function, cut to at most `max` bytes. */
void text_write_function(FILE *out, const char *symbol, size_t max);
/*
 * Like text_write_function(), but writes a template function by the name that all its instances
 * share.
 */
void text_write_template(FILE *out, const char *symbol, size_t max);
/* Writes the name of a module in brackets. If the name is long, leaves out its middle. */
void text_write_short_module(FILE *out, const char *module);
/* Writes the line "stack not known", and the reason if the stack table was full. */
void text_write_no_stack(const struct text_part *part);

/* Writes file+offset, for a frame without a name. `location` may be NULL. */
void text_write_place(FILE *out, const struct sym_location *location);
/*
 * Writes the frame's address and then file+offset. Leaves out the address if it is not known or
 * equals the offset.
 */
void text_write_unnamed(FILE *out, uint64_t frame, const struct sym_location *location);
/*
 * Writes a blank, the end of the source file's path, and the line number if it is known. Writes
 * nothing if the file is not known.
 */
void text_write_source(FILE *out, const struct sym_frame *frame);
/*
 * text_write_short_source() is like text_write_source(), but leaves out the middle of long paths.
 * text_has_source() is true if the source file is known. Both functions also handle a frame of a
 * script, whose symbol contains the file and the line.
 */
bool text_has_source(const struct sym_frame *frame);
void text_write_short_source(FILE *out, const struct sym_frame *frame);

/*
 * Writes a site: the line with its sums (which ends in "from stack" in bcc's format), its stack and
 * its notes.
 */
void text_write_site(const struct text_part *part, const struct report_site *shown);
/*
 * text_write_notes() writes the line of notes on a site in parentheses, text_write_group_notes()
 * the one on a group. Both write nothing if there are no notes.
 */
void text_write_notes(const struct text_part *part, const struct report_site *shown);
void text_write_group_notes(const struct text_part *part, const struct report_group *group);

/*
 * Writes the chain of objects that hold the site's memory, root first; nothing if it is not known.
 */
void text_write_chain(FILE *out, const struct report_site *shown);

/* Writes why a stack was cut; nothing if it was not. */
void text_write_end(const struct text_part *part, enum stack_end end);

/* Writes the time of day. */
void text_write_clock(FILE *out, int64_t wall_ns);

/* Writes a time in seconds, rounded down, so that no age is written too high. */
void text_write_seconds(FILE *out, uint64_t ns);

/* Writes a blank, and a name in parentheses. */
void text_write_name(FILE *out, const char *name);

/* Writes the standard errors of estimated amounts. */
void text_write_error(const struct text_part *part, double bytes_variance, double count_variance);

/*
 * Writes a line for each kind of loss. If `all` is set, this includes kinds that did not occur.
 * can_sample: see lost_remedy().
 */
void text_write_lost(FILE *out, const uint64_t *lost, bool can_sample, bool all);

/* Writes "1 site" or "2 sites". `word` is the singular. */
void text_write_count(FILE *out, uint64_t cnt, const char *word);

/* Writes a number of blocks; in bcc's format, they are called allocations. */
void text_write_blocks(const struct text_part *part, uint64_t count);
/*
 * text_write_sum() writes "5.0 MiB in 10 blocks"; text_write_sums() appends " at 2 sites". In bcc's
 * format, they write "5242960 bytes, 10 allocations, 2 sites", because scripts would take "bytes in
 * 10 allocations" for the first line of a site.
 */
void text_write_sum(const struct text_part *part, uint64_t bytes, uint64_t count);
void text_write_sums(const struct text_part *part, uint64_t bytes, uint64_t count, size_t site_cnt);

#define AMOUNT_TEXT_SIZE 32

/* Formats an amount, such as "80 bytes" or "1.2 MiB". */
void text_amount(double bytes, char ret[AMOUNT_TEXT_SIZE]);

/* Writes an amount, such as "1.2 MiB"; in bcc's format, the exact number of bytes. */
void text_write_bytes(const struct text_part *part, uint64_t bytes);
/* Writes a change of an amount, such as "1.2 MiB", or "3" if the report is of descriptors. */
void text_write_change(const struct text_part *part, uint64_t bytes);
/* Writes an amount, followed by "in 4 blocks" unless the report is of descriptors. */
void text_write_held_in_blocks(const struct text_part *part, uint64_t bytes, uint64_t count);

bool text_is_of_descriptors(const struct text_part *part);

/* Writes the amount of one reachability, such as "definite: 80 bytes in 1 block". */
void text_write_reach(const struct text_part *part, enum reach reach, const struct reach_sum *sum);

/*
 * Writes a line with the sum of the reserved address space that the report leaves out; nothing if
 * it leaves out none.
 */
void text_write_reserved(const struct text_part *part, const struct reserved *reserved);

/* Writes a line with the number of list entries that are not shown, such as "(2 more stacks)". */
void text_write_more(FILE *out, const char *indent, size_t cnt, const char *word);

/* Returns the word for a group of --by, such as "process"; "stack" without --by. */
const char *text_group_word(enum group_by by);
/* Returns the ending of the plural of a word. */
const char *text_plural(const char *word);

bool text_several_processes(const struct snapshot *snap);
/* Writes the pid and the name of a process if the report has several processes. */
void text_write_of_process(const struct text_part *part, const struct process *process);

#endif
