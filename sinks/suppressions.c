// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes how much was suppressed, and proposes patterns for suppressions, as text and as JSON. */
#include "sinks/suppressions.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "options/suppressions.h"
#include "report/frame_walk.h"

void suppressions_write_text(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;
	struct suppressed sum = {0};

	for (size_t i = 0; i < snap->suppressed_cnt; i++) {
		sum.bytes += snap->suppressed[i].bytes;
		sum.count += snap->suppressed[i].count;
		sum.sites += snap->suppressed[i].sites;
	}
	if (!sum.sites)
		return;
	fputs("\tsuppressed: ", part->out);
	text_write_sums(part, sum.bytes, sum.count, sum.sites);
	fputc('\n', part->out);
}

void suppressions_write_runtime_init(const struct text_part *part)
{
	const struct runtime_init *runtime_init = &part->report->runtime_init;

	if (!runtime_init->sites)
		return;
	fputs("\tnot shown: ", part->out);
	text_write_sums(part, runtime_init->bytes, runtime_init->count, runtime_init->sites);
	fputs(" that the C and C++ libraries keep for themselves (--no-default-suppressions)\n",
	      part->out);
}

/* Writes an entry for each pattern, even if the pattern suppressed nothing. */
void suppressions_write_json(struct json_writer *json, const struct report *report)
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
	json_unsigned(json, "bytes", report->runtime_init.bytes);
	json_unsigned(json, "count", report->runtime_init.count);
	json_unsigned(json, "sites", report->runtime_init.sites);
	json_end_object(json);
}

/*
 * Writes a pattern that would suppress a site. If the blamed function has no name, the pattern is
 * its module, and only a comment: it would suppress everything in the module.
 */
static void propose(const struct text_part *part, const struct report_site *shown)
{
	FILE *out = part->out;
	struct frame_walk walk;
	bool known = frame_walk_blamed(&walk, shown) && walk.location;
	const char *symbol = known && walk.frame ? walk.frame->symbol : NULL;
	const char *name = symbol || !known ? symbol : walk.location->module;
	cleanup_free char *pattern = name ? suppression_of(name) : NULL;

	fputs("# ", out);
	text_write_sum(part, shown->site->bytes, shown->site->count);
	if (!pattern)
		fputs(": neither function nor file is known\n", out);
	else if (symbol)
		fprintf(out, "\nleak:%s\n", pattern);
	else
		fprintf(out,
			": the function has no name; the line for its whole file would be\n"
			"# leak:%s\n",
			pattern);
}

void suppressions_propose_text(const struct text_part *part)
{
	const struct report *report = part->report;
	size_t cnt = report->by == BY_STACK ? report->runtime_init_from : report->site_cnt;

	for (size_t i = 0; i < cnt; i++)
		propose(part, &report->sites[i]);
}

void suppressions_propose_json(struct json_writer *json, const struct report_site *shown)
{
	struct frame_walk walk;
	bool known = frame_walk_blamed(&walk, shown) && walk.frame;
	const char *symbol = known ? walk.frame->symbol : NULL;
	cleanup_free char *pattern = symbol ? suppression_of(symbol) : NULL;

	json_string(json, "suppression", pattern);
}
