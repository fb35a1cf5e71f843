// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report for people, in the form of bcc's memleak: the header, the line that ends in "from
 * stack" and the frames below it are read by scripts and never change. What bcc does not say
 * stands in lines of its own, below the frames.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "sinks/count.h"
#include "sinks/peak.h"
#include "sinks/sink.h"
#include "sinks/stats.h"
#include "sinks/suppressions.h"
#include "sinks/text_facts.h"
#include "sinks/text_part.h"
#include "sinks/verdict.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

static void write_blocks(const struct text_part *part, const struct report_site *shown)
{
	FILE *out = part->out;

	for (size_t i = 0; i < shown->block_cnt; i++) {
		const struct block *block = &shown->blocks[i];

		fprintf(out, "%s\t0x%" PRIx64 " %" PRIu64 " bytes", part->indent, block->addr,
			block->size);
		if (block->age_ns != AGE_UNKNOWN) {
			fputs(", ", out);
			text_write_seconds(out, block->age_ns);
			fputs(" s old", out);
		}
		fprintf(out, ", thread %d\n", block->tid);
	}
}

static void write_site(const struct text_part *part, const struct report_site *shown)
{
	text_write_site(part, shown);
	if (part->report->show_allocs)
		write_blocks(part, shown);
}

/* What follows "from". */
static void write_group_name(FILE *out, enum group_by by, const struct report_group *group,
			     bool recorded)
{
	const struct process *process = group->sum->process;

	if (by == BY_MODULE || by == BY_CGROUP) {
		fputs(by == BY_MODULE ? "module " : "cgroup ", out);
		escape_puts(out, group->name && *group->name ? group->name : "[unknown]");
		return;
	}
	if (by == BY_PROCESS && !process) {
		fputs("no single process", out);
		return;
	}
	if (by == BY_PROCESS) {
		fprintf(out, "process %d", process->pid);
		text_write_name(out, process->comm ? process->comm : "?");
		return;
	}
	fprintf(out, "thread %d", group->sum->tid);
	if (group->thread)
		text_write_name(out, group->thread);
	if (process)
		fprintf(out, " of %d", process->pid);
	if (!group->thread && !recorded)
		fputs(", which has ended", out);
}

static void write_group(FILE *out, const struct report *report, const struct report_group *group,
			bool with_process)
{
	const struct text_part head = {out, report, "\t", false};
	const struct text_part sites = {
		out, report, "\t\t",
		with_process && (report->by == BY_MODULE || report->by == BY_CGROUP)};

	fprintf(out, "\t%" PRIu64 " bytes in %" PRIu64 " allocations from ", group->sum->bytes,
		group->sum->count);
	write_group_name(out, report->by, group, report->recorded);
	fputc('\n', out);
	text_write_group_notes(&head, group);
	for (size_t i = 0; i < group->site_cnt; i++)
		write_site(&sites, &group->sites[i]);
	if (group->site_cnt < group->sites_total)
		text_write_more(out, "\t\t", group->sites_total - group->site_cnt, "stack");
}

static void write_largest(const struct text_part *part, const struct report_site *shown)
{
	const struct block *block = &shown->site->largest;
	const struct process *process = shown->site->process;

	fprintf(part->out, "%slargest allocation", part->indent);
	if (process) {
		fprintf(part->out, " of process %d", process->pid);
		text_write_name(part->out, process->comm ? process->comm : "?");
	}
	fprintf(part->out, ": %" PRIu64 " bytes at 0x%" PRIx64 ", ", block->size, block->addr);
	text_write_seconds(part->out, block->age_ns);
	fprintf(part->out, " s old, %s, thread %d\n", kind_name(shown->site->kind), block->tid);
	text_write_stack(part, shown);
}

static int text_report(FILE *out, const struct report *report)
{
	bool with_process = text_several_processes(report->snapshot);
	const struct text_part sites = {out, report, "\t", with_process};
	const char *word = text_group_word(report->by);

	verdict_write_text(out, report, with_process);
	fputc('[', out);
	text_write_clock(out, report->snapshot->wall_ns);
	/* Scripts read this line, which says "1 stacks", too. */
	fprintf(out, "] Top %zu %s%s with outstanding allocations:\n",
		report->by == BY_STACK ? report->runtime_init_from : report->group_cnt, word,
		text_plural(word));
	text_write_incomplete(out, report);
	if (!report->count)
		fputs("\t(no outstanding block has passed the filters, such as --older)\n", out);
	for (size_t i = 0; report->by == BY_STACK && i < report->runtime_init_from; i++)
		write_site(&sites, &report->sites[i]);
	for (size_t i = 0; i < report->group_cnt; i++)
		write_group(out, report, &report->groups[i], with_process);
	if (report->group_cnt < report->groups_total)
		text_write_more(out, "\t", report->groups_total - report->group_cnt, word);
	for (size_t i = 0; i < report->largest_cnt; i++)
		write_largest(&sites, &report->largest[i]);
	if (report->largest_cnt < report->largest_total)
		text_write_more(out, "\t", report->largest_total - report->largest_cnt,
				"largest allocation");
	if (report->show_peak)
		peak_write_text(out, report, with_process);
	if (report->show_summary)
		stats_write_summary(out, report);
	text_write_facts(out, report);
	suppressions_write_runtime_init(out, &report->runtime_init);
	if (report->propose)
		suppressions_propose_text(out, report);
	return 0;
}

static void text_event(FILE *out, const struct trace_event *event)
{
	const struct text_part stack = {.out = out, .indent = ""};

	text_write_clock(out, event->wall_ns);
	fprintf(out, ".%03d %d/%d ", (int)(event->wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC),
		event->pid, event->tid);
	escape_puts(out, event->comm ? event->comm : "?");
	fputs(event->is_free ? " free " : " alloc ", out);
	escape_puts(out, event->function ? event->function : "?");
	fprintf(out, " 0x%" PRIx64 " ", event->addr);
	if (event->size == SIZE_UNKNOWN)
		fputs("size unknown\n", out);
	else
		fprintf(out, "%" PRIu64 " bytes\n", event->size);
	if (event->stack) {
		text_write_stack(&stack, event->stack);
		text_write_end(&stack, event->stack->site->end);
	}
}

const struct sink sink_text = {
	.name = "text",
	.says_losses = true,
	.report = text_report,
	.event = text_event,
	.counts = count_write_text,
};
