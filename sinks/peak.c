// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the peak of outstanding memory as text and as JSON. The sites of the peak are indented,
 * like the sites of a group.
 */
#include "sinks/peak.h"

#include <inttypes.h>

#include "report/peak.h"
#include "sinks/json_parts.h"
#include "sinks/text_part.h"

/* True if outstanding memory had a peak, but was freed before memleak could copy its sites. */
static bool has_no_copy(const struct peak *peak)
{
	return !peak->t0_ns && peak->highest_bytes;
}

static const struct peak *peak_of(const struct report *report)
{
	const struct peak *peak = report->snapshot->peak;

	return peak && (peak->count || has_no_copy(peak)) ? peak : NULL;
}

/*
 * Writes how much higher the true peak was than the amount outstanding when its sites were copied;
 * nothing if it was not higher.
 */
static void write_higher(const struct text_part *part, const struct peak *peak)
{
	uint64_t more = peak->highest_bytes - peak->bytes;

	if (!more)
		return;
	fputs("; the true peak was ", part->out);
	text_write_bytes(part, more);
	fputs(" higher", part->out);
}

void peak_write_fact(const struct text_part *part)
{
	const struct report *report = part->report;
	FILE *out = part->out;
	const struct peak *peak = peak_of(report);

	if (!peak) {
		fputs("\tpeak: nothing was outstanding so far\n", out);
		return;
	}
	if (has_no_copy(peak)) {
		fputs("\tpeak: ", out);
		text_write_bytes(part, peak->highest_bytes);
		fputs(", freed before their stacks could be copied\n", out);
		return;
	}
	fputs("\tpeak: ", out);
	text_write_sums(part, peak->bytes, peak->count, peak->site_cnt);
	fputs(", ", out);
	text_write_seconds(out, report->snapshot->t0_ns - peak->t0_ns);
	fputs(" s ago", out);
	write_higher(part, peak);
	fputc('\n', out);
}

void peak_write_text(const struct text_part *part)
{
	const struct report *report = part->report;
	const struct peak *peak = peak_of(report);
	struct text_part sites = *part;
	FILE *out = part->out;

	peak_write_fact(part);
	if (!peak || has_no_copy(peak))
		return;
	sites.indent = part->look == LOOK_BCC ? "\t\t" : "\t";
	for (size_t i = 0; i < report->peak_cnt; i++)
		text_write_site(&sites, &report->peak[i]);
	if (report->peak_cnt < peak->site_cnt)
		text_write_more(out, sites.indent, peak->site_cnt - report->peak_cnt, "stack");
}

static void write_json_site(struct json_writer *json, const struct report_site *shown)
{
	const struct site *site = shown->site;

	json_begin_object(json, NULL);
	json_write_id(json, site->id);
	json_string(json, "kind", kind_name(site->kind));
	json_write_process(json, site->process);
	json_unsigned(json, "bytes", site->bytes);
	json_unsigned(json, "count", site->count);
	json_write_stack(json, shown);
	json_write_end(json, site->end);
	json_end_object(json);
}

void peak_write_json(struct json_writer *json, const struct report *report)
{
	const struct peak *peak = peak_of(report);

	if (!peak) {
		json_null(json, "peak");
		return;
	}
	json_begin_object(json, "peak");
	if (has_no_copy(peak)) {
		json_null(json, "time");
		json_null(json, "age_ns");
	} else {
		json_write_time(json, peak->wall_ns);
		json_unsigned(json, "age_ns", report->snapshot->t0_ns - peak->t0_ns);
	}
	json_unsigned(json, "bytes", peak->bytes);
	json_unsigned(json, "count", peak->count);
	json_unsigned(json, "highest_bytes", peak->highest_bytes);
	json_unsigned(json, "sites_total", peak->site_cnt);
	json_begin_array(json, "sites");
	for (size_t i = 0; i < report->peak_cnt; i++)
		write_json_site(json, &report->peak[i]);
	json_end_array(json);
	json_end_object(json);
}
