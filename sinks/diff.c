// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes differences between two snapshots, as text and as one line of JSON. */
#include "sinks/diff.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "sinks/json_parts.h"
#include "sinks/json_writer.h"
#include "sinks/rss_line.h"
#include "sinks/sink.h"
#include "sinks/text_part.h"

static void write_moment(FILE *out, const struct diff_side *side)
{
	escape_puts(out, side->name);
	fputs(" [", out);
	text_write_clock(out, side->snap->wall_ns);
	fputs(", ", out);
	text_write_seconds(out, side->snap->elapsed_ns);
	fputs(" s]", out);
}

/* Writes the name of the site's process; nothing if the site belongs to no single process. */
static void write_process(FILE *out, const struct diff_site *site)
{
	const struct process *process = site->shown.site->process;

	if (!process)
		return;
	fputs(", of ", out);
	escape_puts(out, process->comm ? process->comm : "?");
}

static void write_signed(FILE *out, int64_t bytes)
{
	const struct text_part part = {.out = out, .look = LOOK_PLAIN};

	fputc(bytes < 0 ? '-' : '+', out);
	text_write_bytes(&part, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes);
}

static void write_part(FILE *out, const struct diff_part *diff)
{
	const struct text_part part = {.out = out, .look = LOOK_PLAIN};

	text_write_bytes(&part, diff->bytes);
	fprintf(out, " in %" PRIu64, diff->count);
}

static void write_site(FILE *out, const struct diff_site *site)
{
	const struct text_part part = {.out = out, .indent = "\t", .short_names = true};
	const struct diff_part *before = &site->parts[0], *after = &site->parts[1];

	fprintf(out, "\t%s: ", change_name(site->change));
	write_signed(out, diff_bytes(site));
	fprintf(out, " in %+" PRId64 " block%s", diff_count(site),
		llabs(diff_count(site)) == 1 ? "" : "s");
	if (before->site && after->site) {
		fputs(" (", out);
		write_part(out, before);
		fputs(" to ", out);
		write_part(out, after);
		fputc(')', out);
	}
	if (site->shown.site->kind != KIND_HEAP)
		fprintf(out, ", %s", kind_name(site->shown.site->kind));
	write_process(out, site);
	fputc('\n', out);
	text_write_stack(&part, &site->shown);
}

static void write_side(FILE *out, const char *word, const struct diff_side *side)
{
	const struct text_part part = {.out = out, .look = LOOK_PLAIN};

	fprintf(out, "\t%s: ", word);
	text_write_sums(&part, side->bytes, side->count, side->snap->site_cnt);
	fputs(side->snap->sampling.mode ? " (estimates)\n" : "\n", out);
	text_write_reserved(&part, &side->snap->reserved);
	text_write_lost(out, side->snap->lost, true, false);
}

void diff_write_moments(FILE *out, const struct diff *diff)
{
	fputs("From ", out);
	write_moment(out, &diff->sides[0]);
	fputs(" to ", out);
	write_moment(out, &diff->sides[1]);
	fputs(":\n", out);
}

static void merge_python(struct rss *rss)
{
	rss->parts[RSS_MAPPED] += rss->parts[RSS_PYTHON];
	rss->parts[RSS_PYTHON] = 0;
}

static void write_rss_change(FILE *out, const struct diff *diff)
{
	const struct process_tally *before = snapshot_only_rss(diff->sides[0].snap);
	const struct process_tally *after = snapshot_only_rss(diff->sides[1].snap);
	struct rss first, last;

	if (!before || !after)
		return;
	first = before->rss;
	last = after->rss;
	/* Older recordings count the free memory of Python as mapped. */
	if (!first.parts[RSS_PYTHON] || !last.parts[RSS_PYTHON]) {
		merge_python(&first);
		merge_python(&last);
	}
	fputs("\tRSS: ", out);
	rss_write_change(out, &first, &last);
	fputc('\n', out);
}

void diff_write_sums(FILE *out, const struct diff *diff)
{
	fputc('\t', out);
	for (enum change change = 0; change < CHANGE_CNT; change++)
		fprintf(out, "%s%zu %s", change ? ", " : "stacks: ", diff->cnt_of[change],
			change_name(change));
	fputc('\n', out);
	write_side(out, "before", &diff->sides[0]);
	write_side(out, "after", &diff->sides[1]);
	write_rss_change(out, diff);
}

void diff_write_text(FILE *out, const struct diff *diff)
{
	diff_write_moments(out, diff);
	for (size_t i = 0; i < diff->shown_cnt; i++)
		write_site(out, &diff->sites[i]);
	if (diff->shown_cnt < diff->site_cnt)
		fprintf(out, "\t(%zu more changed)\n", diff->site_cnt - diff->shown_cnt);
	diff_write_sums(out, diff);
}

static void write_json_side(struct json_writer *json, const char *key, const struct diff_side *side)
{
	json_begin_object(json, key);
	json_string(json, "file", side->name);
	json_write_time(json, side->snap->wall_ns);
	json_unsigned(json, "elapsed_ns", side->snap->elapsed_ns);
	json_write_totals(json, "outstanding", side->bytes, side->count);
	json_unsigned(json, "sites_total", side->snap->site_cnt);
	json_write_reserved(json, &side->snap->reserved);
	json_bool(json, "sampled", side->snap->sampling.mode != SAMPLING_NONE);
	json_write_lost(json, side->snap->lost);
	if (snapshot_only_rss(side->snap))
		rss_write_json(json, &snapshot_only_rss(side->snap)->rss);
	json_end_object(json);
}

static void write_json_part(struct json_writer *json, const char *key, const struct diff_part *part)
{
	const struct process *process = part->site ? part->site->process : NULL;

	if (!part->site) {
		json_null(json, key);
		return;
	}
	json_begin_object(json, key);
	json_write_id(json, part->site->id);
	if (process)
		json_signed(json, "pid", process->pid);
	else
		json_null(json, "pid");
	json_unsigned(json, "bytes", part->bytes);
	json_unsigned(json, "count", part->count);
	json_end_object(json);
}

static void write_json_site(struct json_writer *json, const struct diff_site *diff)
{
	const struct site *site = diff->shown.site;

	json_begin_object(json, NULL);
	json_string(json, "change", change_name(diff->change));
	json_string(json, "space", site->space == SPACE_KERNEL ? "kernel" : "user");
	json_string(json, "kind", kind_name(site->kind));
	json_string(json, "comm", site->process ? site->process->comm : NULL);
	json_signed(json, "bytes", diff_bytes(diff));
	json_signed(json, "count", diff_count(diff));
	write_json_part(json, "before", &diff->parts[0]);
	write_json_part(json, "after", &diff->parts[1]);
	json_write_stack(json, &diff->shown);
	json_write_end(json, site->end);
	json_end_object(json);
}

void diff_write_json(FILE *out, const struct diff *diff)
{
	struct json_writer json;

	json_init(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak-diff/1");
	write_json_side(&json, "before", &diff->sides[0]);
	write_json_side(&json, "after", &diff->sides[1]);
	json_begin_object(&json, "stacks");
	for (enum change change = 0; change < CHANGE_CNT; change++)
		json_unsigned(&json, change_name(change), diff->cnt_of[change]);
	json_end_object(&json);
	json_begin_array(&json, "sites");
	for (size_t i = 0; i < diff->shown_cnt; i++)
		write_json_site(&json, &diff->sites[i]);
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
}
