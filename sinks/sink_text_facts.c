// SPDX-License-Identifier: GPL-2.0-or-later
/* What is true of a report as a whole, in words: its totals, how exact they are, what was lost. */
#include <inttypes.h>

#include "sinks/escape.h"
#include "sinks/sink.h"
#include "sinks/sink_stats.h"
#include "sinks/sink_suppressions.h"
#include "sinks/sink_text.h"

/* Rounded down: it says 100 only when it is. */
static void write_complete(FILE *out, const struct report *report)
{
	unsigned int permille;

	if (!report->bytes)
		return;
	if (report->complete_bytes == report->bytes) {
		fputs("; all stacks are complete", out);
		return;
	}
	permille = (unsigned int)((long double)report->complete_bytes * 1000 / report->bytes);
	fprintf(out, "; %u.%u %% of the bytes have complete stacks", permille / 10, permille % 10);
}

static void write_sampling(FILE *out, const struct report *report)
{
	const struct sampling *sampling = &report->snapshot->sampling;

	if (sampling->mode == SAMPLING_NONE)
		return;
	if (sampling->mode == SAMPLING_COUNT)
		fprintf(out, "\testimates: one allocation in %" PRIu64 " is sampled; ",
			sampling->rate);
	else
		fprintf(out,
			"\testimates: one sample is taken every %" PRIu64 " bytes on average; ",
			sampling->rate);
	sink_text_write_error(out, report->bytes_variance, report->count_variance);
	fputc('\n', out);
}

static void write_baseline(FILE *out, uint64_t baseline_ns)
{
	if (!baseline_ns)
		return;
	fputs("\tbaseline: what was allocated in the first ", out);
	sink_text_write_seconds(out, baseline_ns);
	fputs(" s of tracing is left out\n", out);
}

static void write_totals(FILE *out, const struct report *report)
{
	/* No "bytes in N allocations" here: scripts would take it for a stack. */
	fprintf(out, "\toutstanding: %" PRIu64 " bytes, %" PRIu64 " allocations, %zu sites",
		report->bytes, report->count, report->sites_total);
	if (report->by != BY_STACK)
		fprintf(out, " of %zu %s", report->groups_total, sink_text_group_word(report->by));
	write_complete(out, report);
	fputc('\n', out);
	if (report->inherited_count)
		fprintf(out,
			"\tinherited: %" PRIu64 " bytes, %" PRIu64 " allocations, which children "
			"have of their parents in memory that is shared until it is written\n",
			report->inherited_bytes, report->inherited_count);
	sink_suppressions_write_text(out, report->snapshot);
	write_baseline(out, report->snapshot->baseline_ns);
	write_sampling(out, report);
}

/* Frees that no event showed: nothing is lost, but the reader should know. */
static void write_inferred(FILE *out, const struct snapshot *snap)
{
	if (snap->replaced)
		fprintf(out,
			"\tinferred: %" PRIu64 " blocks freed unseen, as their addresses were "
			"handed out again\n",
			snap->replaced);
	if (snap->gone_with_page)
		fprintf(out,
			"\tinferred: %" PRIu64 " blocks freed unseen, as their slab pages were "
			"given back\n",
			snap->gone_with_page);
}

void sink_text_write_lost(FILE *out, const uint64_t *lost, bool all)
{
	for (size_t i = 0; i < MEMLEAK_LOST_CNT; i++) {
		const struct lost_text *text = &lost_texts[i];

		if (!lost[i] && !all)
			continue;
		fprintf(out, "\tlost: %" PRIu64 " %s", lost[i], text->words);
		if (text->remedy && lost[i])
			fprintf(out, " (%s)", text->remedy);
		fputc('\n', out);
	}
}

static void write_losses(FILE *out, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->loss_cnt; i++) {
		const struct process *process = snap->losses[i].process;

		fprintf(out, "\tof these %" PRIu64 " of pid %d", snap->losses[i].refused,
			process->pid);
		sink_text_write_name(out, process->comm ? process->comm : "?");
		fputs(", which had its share\n", out);
	}
}

void sink_text_write_facts(FILE *out, const struct report *report)
{
	write_totals(out, report);
	write_inferred(out, report->snapshot);
	if (report->show_stats)
		sink_stats_write_text(out, report->snapshot);
	sink_text_write_lost(out, report->snapshot->lost, report->show_stats);
	write_losses(out, report->snapshot);
}

void sink_text_write_target(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	bool several = sink_text_several_processes(snap), kernel = false;
	const struct process *process = NULL;

	for (size_t i = 0; i < snap->site_cnt; i++) {
		kernel |= snap->sites[i].space == SPACE_KERNEL;
		process = snap->sites[i].process ? snap->sites[i].process : process;
	}
	if (kernel)
		fputs(process ? "the kernel and " : "the kernel", out);
	else if (!process)
		fputs("nothing outstanding", out);
	if (several) {
		fputs("several processes", out);
	} else if (process) {
		escape_puts(out, process->comm ? process->comm : "?");
		fprintf(out, " (%d)", process->pid);
	}
}
