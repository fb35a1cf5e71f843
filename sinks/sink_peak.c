// SPDX-License-Identifier: GPL-2.0-or-later
/* The peak, as lines and as JSON. Its sites stand further in, as those of groups do. */
#include "sinks/sink_peak.h"

#include <inttypes.h>

#include "report/peak.h"
#include "sinks/sink_json_parts.h"
#include "sinks/sink_text.h"

static const struct peak *peak_of(const struct report *report)
{
	const struct peak *peak = report->snapshot->peak;

	return peak && peak->count ? peak : NULL;
}

/* What it may have been higher by. */
static void write_higher(FILE *out, const struct peak *peak)
{
	uint64_t more = peak->highest_bytes - peak->bytes;

	if (more)
		fprintf(out, "; at some moment it was %" PRIu64 " bytes more", more);
}

static void write_site(const struct text_part *part, const struct report_site *shown)
{
	fprintf(part->out, "%s%" PRIu64 " bytes in %" PRIu64 " allocations from stack\n",
		part->indent, shown->site->bytes, shown->site->count);
	sink_text_write_stack(part, shown);
	sink_text_write_notes(part, shown);
}

void sink_peak_write_text(FILE *out, const struct report *report, bool with_process)
{
	const struct text_part part = {out, report, "\t\t", with_process};
	const struct peak *peak = peak_of(report);

	if (!peak) {
		fputs("\tpeak: nothing was outstanding so far\n", out);
		return;
	}
	/* No "bytes in N allocations" here: scripts would take it for a stack. */
	fprintf(out, "\tpeak: %" PRIu64 " bytes, %" PRIu64 " allocations, %zu sites, ", peak->bytes,
		peak->count, peak->site_cnt);
	sink_text_write_seconds(out, report->snapshot->t0_ns - peak->t0_ns);
	fputs(" s ago", out);
	write_higher(out, peak);
	fputc('\n', out);
	for (size_t i = 0; i < report->peak_cnt; i++)
		write_site(&part, &report->peak[i]);
	if (report->peak_cnt < peak->site_cnt)
		fprintf(out, "\t\t(%zu more stacks)\n", peak->site_cnt - report->peak_cnt);
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

void sink_peak_write_json(struct json_writer *json, const struct report *report)
{
	const struct peak *peak = peak_of(report);

	if (!peak) {
		json_null(json, "peak");
		return;
	}
	json_begin_object(json, "peak");
	json_write_time(json, peak->wall_ns);
	json_unsigned(json, "age_ns", report->snapshot->t0_ns - peak->t0_ns);
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
