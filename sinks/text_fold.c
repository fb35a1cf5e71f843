// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the stack of a site for people. Folds frames inside a library, recursions, and the
 * start-up frames that all programs have.
 */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "report/blame.h"
#include "report/fold.h"
#include "sinks/text_part.h"

#define NAME_MOST 100
/*
 * Minimum number of outer frames, not counting start-up frames, that are left out because the
 * previous stack has them, too
 */
#define REPEATED_LEAST 3

/*
 * Returns the number of outer frames that are left out because the stack has them in common with
 * the previous stack `above`. The culprit, and the functions that it calls, are never left out.
 */
static size_t repeated_cnt(const struct report_site *shown, const struct report_site *above)
{
	const struct site *site = shown->site, *other = above ? above->site : NULL;
	size_t cnt = 0, read = 0;

	if (!other || other->process != site->process)
		return 0;
	while (cnt < other->frame_cnt && shown->blamed.frame + cnt + 1 < site->frame_cnt &&
	       shown->first_frame + cnt + 1 < site->frame_cnt &&
	       site->frames[site->frame_cnt - cnt - 1] == other->frames[other->frame_cnt - cnt - 1])
		cnt++;
	while (read < cnt && !frame_is_start(shown->locations[site->frame_cnt - cnt + read]))
		read++;
	return read >= REPEATED_LEAST ? cnt : 0;
}

static void write_named(const struct text_part *part, const struct spot *spot, bool is_culprit)
{
	FILE *out = part->out;

	if (is_culprit)
		text_begin_style(part, STYLE_CULPRIT);
	text_write_function(out, spot->frame->symbol, NAME_MOST);
	text_write_short_source(out, spot->frame);
	if (is_culprit)
		text_end_style(part);
	if (!text_has_source(spot->frame) && spot->location->module && *spot->location->module) {
		fputc(' ', out);
		text_write_short_module(out, spot->location->known_as ?: spot->location->module);
	}
}

/* Writes how many times in a row a recursion calls its functions. */
static void write_times(FILE *out, const struct recursion *recursion)
{
	fprintf(out, " \u00d7%zu%s", recursion->times,
		recursion->varied ? ", at several lines" : "");
}

static void write_spot(const struct text_part *part, const struct report_site *shown,
		       const struct spot *spot, const struct recursion *recursion)
{
	bool is_culprit = spot_is_at(spot, shown->blamed);
	FILE *out = part->out;

	fprintf(out, "%s  %s ", part->indent, is_culprit ? "\u2192" : " ");
	if (spot_has_symbol(spot))
		write_named(part, spot, is_culprit);
	else
		text_write_unnamed(out, shown->site->frames[spot->pos.frame], spot->location);
	if (recursion->period == 1)
		write_times(out, recursion);
	fputc('\n', out);
}

static void write_run(const struct text_part *part, const struct fold *fold)
{
	fprintf(part->out, "%s    ", part->indent);
	text_begin_style(part, STYLE_DIM);
	fprintf(part->out, "\u2026 %zu %sframes of ", fold->cnt, fold->nameless ? "unnamed " : "");
	escape_puts(part->out, fold_file_name(fold));
	text_end_style(part);
	fputc('\n', part->out);
}

/*
 * Writes the line "these N frames ×M" of a recursion of several functions. A recursion of a single
 * function has ×M on the line of this function.
 */
static void write_repeat(const struct text_part *part, const struct recursion *recursion)
{
	if (recursion->period == 1)
		return;
	fprintf(part->out, "%s    ", part->indent);
	text_begin_style(part, STYLE_DIM);
	fprintf(part->out, "\u2026 these %zu frames", recursion->period);
	write_times(part->out, recursion);
	text_end_style(part);
	fputc('\n', part->out);
}

static void write_item(const struct text_part *part, const struct report_site *shown,
		       const struct fold *fold)
{
	if (fold->repeats)
		write_repeat(part, &fold->recursion);
	else if (fold->inside)
		write_run(part, fold);
	else
		write_spot(part, shown, &fold->spot, &fold->recursion);
}

static void write_all(const struct text_part *part, const struct report_site *shown)
{
	static const struct recursion none;
	struct spot spot = spot_at(shown, (struct stack_pos){0});

	do
		write_spot(part, shown, &spot, &none);
	while (spot_next(shown, &spot));
}

void text_write_folded_stack(const struct text_part *part, const struct report_site *shown)
{
	size_t end = shown->site->frame_cnt;
	struct fold fold;

	if (shown->first_frame >= end) {
		text_write_no_stack(part);
		return;
	}
	if (part->report && part->report->all_frames) {
		write_all(part, shown);
		return;
	}
	end -= repeated_cnt(shown, part->above);
	fold_begin(&fold, shown, end);
	while (fold_next(&fold))
		write_item(part, shown, &fold);
	if (!fold.at_start && end < shown->site->frame_cnt)
		fprintf(part->out, "%s    \u2026 callers as above\n", part->indent);
}
