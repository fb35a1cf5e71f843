// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes reports for people, in this order: the target and totals, a line for each loss and for
 * each growing site, the stacks of these sites and of the largest other sites, and the exact sums.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/depths.h"
#include "report/listing.h"
#include "sinks/census.h"
#include "sinks/core.h"
#include "sinks/cost.h"
#include "sinks/count.h"
#include "sinks/kernel_line.h"
#include "sinks/peak.h"
#include "sinks/python_line.h"
#include "sinks/rss_line.h"
#include "sinks/sink.h"
#include "sinks/stats.h"
#include "sinks/suppressions.h"
#include "sinks/text.h"
#include "sinks/text_facts.h"
#include "sinks/text_lists.h"
#include "sinks/verdict.h"

#define NSEC_PER_SEC 1000000000

/* Writes a bar for each of the latest values, scaled from the smallest to the largest. */
static void write_sparkline(FILE *out, const uint64_t *past, size_t cnt)
{
	static const char *const bars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					   "\u2585", "\u2586", "\u2587", "\u2588"};
	uint64_t least = past[0], most = past[0];

	for (size_t i = 1; i < cnt; i++) {
		least = past[i] < least ? past[i] : least;
		most = past[i] > most ? past[i] : most;
	}
	fputc(' ', out);
	for (size_t i = 0; i < cnt; i++) {
		double part =
			most == least ? 0 : (double)(past[i] - least) / (double)(most - least);

		fputs(bars[(size_t)(part * 7 + 0.5)], out);
	}
}

static void write_change(const struct text_part *part, const uint64_t *past, size_t cnt)
{
	FILE *out = part->out;
	uint64_t before, now;

	if (cnt < 2)
		return;
	before = past[cnt - 2];
	now = past[cnt - 1];
	fputs(now < before ? ", -" : ", +", out);
	text_write_change(part, now < before ? before - now : now - before);
	fputs(" since the last report", out);
	/* An HTML page has a chart instead. */
	if (part->look != LOOK_MARKED)
		write_sparkline(out, past, cnt);
}

/*
 * Writes that nothing is outstanding, and names the filters in effect. Except in a report of
 * descriptors, also writes the number of calls: it shows whether the probed allocator is in use.
 */
static void write_nothing(const struct text_part *part)
{
	const struct report *report = part->report;
	const char *before = " that passes ";
	FILE *out = part->out;
	uint64_t calls = report->snapshot->calls;

	fputs("nothing outstanding", out);
	if (report->has_min_size) {
		fprintf(out, "%s--min-size", before);
		before = " and ";
	}
	if (report->has_max_size) {
		fprintf(out, "%s--max-size", before);
		before = " and ";
	}
	if (report->has_older)
		fprintf(out, "%s--older", before);
	if (text_is_of_descriptors(part))
		return;
	if (calls)
		fprintf(out, "; %" PRIu64 " call%s traced", calls, calls == 1 ? "" : "s");
	else
		fputs("; no calls traced", out);
}

static void write_headline(const struct text_part *part)
{
	const struct report *report = part->report;
	bool has_target = report->count || report->snapshot->tally_cnt == 1;
	FILE *out = part->out;

	text_begin_style(part, STYLE_BOLD);
	text_write_clock(out, report->snapshot->wall_ns);
	if (has_target) {
		fputc(' ', out);
		text_write_target(out, report);
	}
	text_end_style(part);
	fprintf(out, "%s traced for %" PRIu64 " s: ", has_target ? "," : "",
		report->snapshot->elapsed_ns / NSEC_PER_SEC);
	if (!report->count) {
		write_nothing(part);
		if (report->past_cnt > 1 && report->past[report->past_cnt - 2])
			write_change(part, report->past, report->past_cnt);
		fputc('\n', out);
		return;
	}
	text_write_held_in_blocks(part, report->bytes, report->count);
	write_change(part, report->past, report->past_cnt);
	text_write_complete(out, report);
	fputc('\n', out);
}

void text_write_head(const struct text_part *part)
{
	if (part->report->snapshot->core)
		core_write_text(part);
	else
		write_headline(part);
	text_write_incomplete(part->out, part->report);
	verdict_write_first(part);
	kernel_write_lines(part);
	verdict_write_reasons(part);
	python_write_line(part);
	rss_write_lines(part);
	rss_write_pinners(part);
	cost_write_text(part);
}

/*
 * True if the report may sum up sites: stacks that differ only in recursion depth, and slab caches
 * that the kernel can reclaim. False if an option asks for details of single sites.
 */
static bool may_join(const struct report *report)
{
	return !report->all_frames && !report->show_allocs && !report->show_why;
}

static size_t lines_of(const char *text, size_t columns)
{
	size_t lines = 0, width = 0;

	for (; *text; text++) {
		if (*text == '\n') {
			lines += 1 + (width ? (width - 1) / columns : 0);
			width = 0;
		} else if (*text == '\x1b') {
			text += strcspn(text, "m");
			if (!*text)
				return lines;
		} else if ((*text & 0xc0) != 0x80) {
			width += *text == '\t' ? 8 : 1;
		}
	}
	return lines;
}

/*
 * Minimum number of lines of the first stack that are written; with fewer, the culprit might be cut
 * off.
 */
#define STACK_LINES 8
/* Like STACK_LINES, if the lines of suspects already name the culprit. */
#define STACK_LINES_OF_SUSPECTS 3

/*
 * If a stack takes more than `most` lines, cuts off its last lines, so that at least one line is
 * free for the note on the cut. Returns the number of lines cut off.
 */
static size_t cut_lines(char *text, size_t columns, size_t most)
{
	size_t cut = 0;

	if (lines_of(text, columns) <= most)
		return 0;
	for (; lines_of(text, columns) >= most; cut++) {
		char *last = memrchr(text, '\n', strlen(text) - 1);

		if (!last)
			break;
		last[1] = '\0';
	}
	return cut;
}

/*
 * Writes stacks; on a terminal, only those that fit into `*left` lines, with three exceptions. The
 * first stack is always written: if it does not fit, its last lines are left out. It may take
 * STACK_LINES lines, or STACK_LINES_OF_SUSPECTS lines if there are suspects, even if fewer are
 * available. If there are suspects and fewer than STACK_LINES_OF_SUSPECTS lines are available, no
 * stack is written, so that the lines of suspects do not scroll away. Subtracts the lines written
 * from `*left`; sets it to 0 if stacks are left out. Returns 0 or -ENOMEM.
 */
static int write_sites(const struct text_part *part, const struct report_site *const *sites,
		       size_t cnt, size_t *left)
{
	const struct report *report = part->report;
	size_t least = report->suspect_cnt ? STACK_LINES_OF_SUSPECTS : STACK_LINES;

	if (cnt && report->rows && report->suspect_cnt && *left < least) {
		fprintf(part->out, "(%zu stack%s: -T %zu)\n", cnt, cnt == 1 ? "" : "s", cnt);
		*left = 0;
		return 0;
	}
	for (size_t i = 0; i < cnt; i++) {
		struct text_part at = *part;
		cleanup_free char *text = NULL;
		size_t len, lines, cut = 0;

		at.out = open_memstream(&text, &len);
		if (!at.out)
			return -ENOMEM;
		at.above = i ? sites[i - 1] : NULL;
		text_write_listed_site(&at, sites[i]);
		if (fclose(at.out))
			return -ENOMEM;
		if (report->rows && !i)
			cut = cut_lines(text, report->columns, *left < least ? least : *left);
		lines = report->rows ? lines_of(text, report->columns) : 0;
		if (i && lines > *left) {
			fprintf(part->out, "(%zu more stack%s: -T %zu)\n", cnt - i,
				cnt - i == 1 ? "" : "s", cnt);
			*left = 0;
			return 0;
		}
		*left -= lines < *left ? lines : *left;
		fputs(text, part->out);
		if (cut)
			fprintf(part->out, "    \u2026 %zu more line%s: -T %zu\n", cut,
				cut == 1 ? "" : "s", cnt);
	}
	return 0;
}

/*
 * Removes sites whose memory the kernel can reclaim from the list `sites`. Returns how many it
 * removed.
 */
static size_t remove_reclaimable(const struct report_site **sites, size_t *cnt)
{
	size_t kept = 0, removed;

	for (size_t i = 0; i < *cnt; i++)
		if (!sites[i]->site->origin.reclaimable)
			sites[kept++] = sites[i];
	removed = *cnt - kept;
	*cnt = kept;
	return removed;
}

/*
 * Number of lines below the list of reclaimable caches: the number of further caches, and the
 * options that show their stacks
 */
#define RECLAIMABLE_LINES 2
/*
 * Number of lines reserved for the list of reclaimable caches: its largest cache, and the lines
 * below the list.
 */
#define RECLAIMABLE_ROOM (1 + RECLAIMABLE_LINES)

static int write_stacks(const struct text_part *part, size_t left)
{
	const struct report *report = part->report;
	cleanup_free const struct report_site **shown = NULL;
	cleanup_free struct joined_site *joined = NULL;
	size_t cnt = 0, reclaimable = 0, kept = 0;
	int err = report_list(report, report->runtime_init_from, &cnt, &shown);

	if (!err && may_join(report)) {
		reclaimable = remove_reclaimable(shown, &cnt);
		err = depths_join(shown, cnt, &cnt, &joined);
	}
	for (size_t i = 0; joined && i < cnt; i++)
		shown[i] = &joined[i].shown;
	if (report->rows && reclaimable && left > RECLAIMABLE_ROOM)
		kept = RECLAIMABLE_ROOM;
	left -= kept;
	if (!err)
		err = write_sites(part, shown, cnt, &left);
	left += kept;
	if (report->rows && reclaimable + RECLAIMABLE_LINES > left)
		reclaimable = left < RECLAIMABLE_LINES ? 0 : left - RECLAIMABLE_LINES;
	if (!err && reclaimable)
		kernel_write_reclaimable(part, reclaimable);
	return err;
}

/* Writes everything that follows the stacks. */
static void write_tail(const struct text_part *part)
{
	const struct report *report = part->report;
	FILE *out = part->out;

	text_write_groups(part);
	text_write_largest(part);
	if (report->show_peak)
		peak_write_text(part);
	if (report->show_summary)
		stats_write_summary(part);
	census_write_text(out, report);
	text_write_facts(part, true);
	suppressions_write_runtime_init(part);
	if (report->propose)
		suppressions_propose_text(part);
	if (!report->final)
		fputc('\n', out);
}

/* Returns the output of write(), to be freed by the caller; NULL if out of memory. */
static char *text_of(const struct text_part *part, void (*write)(const struct text_part *part))
{
	struct text_part inner = *part;
	char *text = NULL;
	size_t len;

	inner.out = open_memstream(&text, &len);
	if (!inner.out)
		return NULL;
	write(&inner);
	if (!fclose(inner.out))
		return text;
	free(text);
	return NULL;
}

/*
 * True if a line at the end of a report is a note, such as "\tlost: ...". The totals
 * ("outstanding:", "open:") are not notes.
 */
static bool is_note(const char *line)
{
	return *line == '\t' && line[strcspn(line, ":\n")] == ':' &&
	       strncmp(line, "\toutstanding:", strlen("\toutstanding:")) != 0 &&
	       strncmp(line, "\topen:", strlen("\topen:")) != 0;
}

/*
 * Writes the labels of consecutive notes, such as "lost"; `line` is the first note. Writes adjacent
 * equal labels once, with their number.
 */
static void write_labels(FILE *out, const char *line)
{
	const char *between = "\t";

	while (is_note(line)) {
		size_t len = strcspn(line, ":") + 1, times = 0;
		const char *label = line;

		for (; *line && (*line == '\t' && (!is_note(line) || !strncmp(line, label, len)));
		     line = strchrnul(line, '\n') + 1)
			times += is_note(line);
		fprintf(out, "%s%.*s", between, (int)len - 2, label + 1);
		if (times > 1)
			fprintf(out, " \u00d7%zu", times);
		between = ", ";
	}
	fputs(" (-T 10 shows these notes)\n", out);
}

/* Writes the end of a report, with one line of labels in place of all notes. */
static void write_short_tail(FILE *out, const char *tail)
{
	bool is_labelled = false;

	for (const char *at = tail, *end; (end = strchr(at, '\n')); at = end + 1) {
		if (is_note(at) && !is_labelled)
			write_labels(out, at);
		is_labelled |= is_note(at);
		if (!is_labelled || *at != '\t')
			fwrite(at, 1, (size_t)(end + 1 - at), out);
	}
}

/*
 * Number of lines on the terminal besides the head, stacks and tail of a report: an empty line, the
 * line "more stacks", and the line of the cursor
 */
#define OTHER_LINES 3
/*
 * Number of lines that write_short_tail() writes: the totals, the labels of notes, and an empty
 * line
 */
#define SHORT_LINES 4

static int text_report(FILE *out, const struct report *report)
{
	const struct text_part part = {out,
				       report,
				       "",
				       text_several_processes(report->snapshot),
				       report->colour ? LOOK_COLOUR : LOOK_PLAIN,
				       NULL,
				       false};
	cleanup_free char *head = text_of(&part, text_write_head);
	cleanup_free char *tail = text_of(&part, write_tail);
	size_t taken = OTHER_LINES;
	bool is_short;
	int err = 0;

	if (!head || !tail)
		return -ENOMEM;
	if (report->rows)
		taken += lines_of(head, report->columns) + lines_of(tail, report->columns);
	is_short = report->rows && taken + STACK_LINES > report->rows;
	if (is_short)
		taken = OTHER_LINES + SHORT_LINES + lines_of(head, report->columns);
	fprintf(out, "%s\n", head);
	if (report->by == BY_STACK)
		err = write_stacks(&part, taken < report->rows ? report->rows - taken : 0);
	if (is_short)
		write_short_tail(out, tail);
	else
		fputs(tail, out);
	return err;
}

const struct sink sink_text = {
	.name = "text",
	.says_losses = true,
	.report = text_report,
	.event = text_write_event,
	.counts = count_write_text,
};
