// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes reports in the format of bcc's memleak. Scripts parse the header, the line that ends in
 * "from stack", and the frames below that line, so these three never change. Everything that
 * memleak adds is on separate lines.
 */
#include "sinks/census.h"
#include "sinks/core.h"
#include "sinks/count.h"
#include "sinks/peak.h"
#include "sinks/sink.h"
#include "sinks/stats.h"
#include "sinks/suppressions.h"
#include "sinks/text_facts.h"
#include "sinks/text_lists.h"
#include "sinks/verdict.h"

static int bcc_report(FILE *out, const struct report *report)
{
	const struct text_part part = {
		out, report, "\t", text_several_processes(report->snapshot), LOOK_BCC, NULL, false};
	const char *word = report->snapshot->core ? "sort" : text_group_word(report->by);

	if (report->snapshot->core)
		core_write_text(&part);
	verdict_write_text(&part);
	text_begin_line(&part);
	/* Scripts parse this line, so the word is always "stacks", even for 1 stack. */
	fprintf(out, "Top %zu %s%s with outstanding allocations:\n",
		report->by == BY_STACK ? report->runtime_init_from : report->group_cnt, word,
		text_plural(word));
	text_write_incomplete(out, report);
	if (!report->count && !report->snapshot->core)
		fputs("\t(no outstanding block has passed the filters, such as --older)\n", out);
	for (size_t i = 0; report->by == BY_STACK && i < report->runtime_init_from; i++)
		text_write_listed_site(&part, &report->sites[i]);
	text_write_groups(&part);
	text_write_largest(&part);
	if (report->show_peak)
		peak_write_text(&part);
	if (report->show_summary)
		stats_write_summary(&part);
	census_write_text(out, report);
	text_write_facts(&part, false);
	suppressions_write_runtime_init(&part);
	if (report->propose)
		suppressions_propose_text(&part);
	return 0;
}

const struct sink sink_bcc = {
	.name = "bcc",
	.says_losses = true,
	.report = bcc_report,
	.event = text_write_event,
	.counts = count_write_text,
};
