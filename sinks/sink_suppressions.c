// SPDX-License-Identifier: GPL-2.0-or-later
/* Suppressions in reports: as lines and as JSON. */
#include "sinks/sink_suppressions.h"

#include <inttypes.h>

#include "loader/cleanup.h"
#include "report/frame_walk.h"
#include "report/suppressions.h"
#include "sinks/escape.h"

void sink_suppressions_write_text(FILE *out, const struct snapshot *snap)
{
	struct suppressed sum = {0};

	for (size_t i = 0; i < snap->suppressed_cnt; i++) {
		sum.bytes += snap->suppressed[i].bytes;
		sum.count += snap->suppressed[i].count;
		sum.sites += snap->suppressed[i].sites;
	}
	/* No "bytes in N allocations" here: scripts would take it for a stack. */
	if (sum.sites)
		fprintf(out,
			"\tsuppressed: %" PRIu64 " bytes, %" PRIu64 " allocations, %zu sites\n",
			sum.bytes, sum.count, sum.sites);
}

void sink_suppressions_write_start_up(FILE *out, const struct start_up *start_up)
{
	if (start_up->sites)
		fprintf(out,
			"\tnot shown: %" PRIu64 " bytes, %" PRIu64 " allocations, %zu sites that "
			"the C and C++ libraries keep for themselves (--no-default-suppressions)\n",
			start_up->bytes, start_up->count, start_up->sites);
}

/* Also patterns by which nothing was. */
void sink_suppressions_write_json(struct json_writer *json, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	json_begin_array(json, "suppressed");
	for (size_t i = 0; i < snap->suppressed_cnt; i++) {
		const struct suppressed *suppressed = &snap->suppressed[i];

		json_begin_object(json, NULL);
		json_string(json, "pattern", suppressed->pattern);
		json_unsigned(json, "bytes", suppressed->bytes);
		json_unsigned(json, "count", suppressed->count);
		json_unsigned(json, "sites", suppressed->sites);
		json_end_object(json);
	}
	json_end_array(json);
	json_begin_object(json, "start_up");
	json_unsigned(json, "bytes", report->start_up.bytes);
	json_unsigned(json, "count", report->start_up.count);
	json_unsigned(json, "sites", report->start_up.sites);
	json_end_object(json);
}

/* A line for a whole file is not what was asked for, and may be for everything: it is a comment. */
static void propose(FILE *out, const struct report_site *shown)
{
	struct frame_walk walk;
	bool known = frame_walk_culprit(&walk, shown) && walk.location;
	const char *symbol = known && walk.frame ? walk.frame->symbol : NULL;
	const char *name = symbol || !known ? symbol : walk.location->module;
	cleanup_free char *pattern = name ? suppression_of(name) : NULL;

	fprintf(out, "# %" PRIu64 " bytes, %" PRIu64 " allocations", shown->site->bytes,
		shown->site->count);
	if (!pattern)
		fputs(": neither function nor file is known\n", out);
	else if (symbol)
		fprintf(out, "\nleak:%s\n", pattern);
	else
		fprintf(out,
			": the function has no name, and for all of its file it would be\n"
			"# leak:%s\n",
			pattern);
}

void sink_suppressions_propose_text(FILE *out, const struct report *report)
{
	size_t cnt = report->by == BY_STACK ? report->start_up_from : report->site_cnt;

	for (size_t i = 0; i < cnt; i++)
		propose(out, &report->sites[i]);
}

void sink_suppressions_propose_json(struct json_writer *json, const struct report_site *shown)
{
	struct frame_walk walk;
	bool known = frame_walk_culprit(&walk, shown) && walk.frame;
	const char *symbol = known ? walk.frame->symbol : NULL;
	cleanup_free char *pattern = symbol ? suppression_of(symbol) : NULL;

	json_string(json, "suppression", pattern);
}
