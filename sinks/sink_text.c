// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report for people, in the form of bcc's memleak: the header, the line that ends in "from
 * stack" and the frames below it are read by scripts and never change. What bcc does not say
 * stands in lines of its own, below the frames.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "sinks/escape.h"
#include "sinks/sink.h"
#include "sinks/sink_count.h"
#include "sinks/sink_peak.h"
#include "sinks/sink_stats.h"
#include "sinks/sink_suppressions.h"
#include "sinks/sink_text.h"
#include "sinks/sink_verdict.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

static const char *const group_words[] = {
	[BY_STACK] = "stacks",   [BY_PROCESS] = "processes", [BY_MODULE] = "modules",
	[BY_THREAD] = "threads", [BY_CGROUP] = "cgroups",
};

const char *sink_text_group_word(enum group_by by)
{
	return group_words[by];
}

void sink_text_write_clock(FILE *out, int64_t wall_ns)
{
	time_t seconds = wall_ns / NSEC_PER_SEC;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		fprintf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		fputs("--:--:--", out);
}

static void write_blocks(const struct text_part *part, const struct report_site *shown)
{
	FILE *out = part->out;

	for (size_t i = 0; i < shown->block_cnt; i++) {
		const struct block *block = &shown->blocks[i];

		fprintf(out, "%s\t0x%" PRIx64 " %" PRIu64 " bytes", part->indent, block->addr,
			block->size);
		if (block->age_ns != AGE_UNKNOWN) {
			fputs(", ", out);
			sink_text_write_seconds(out, block->age_ns);
			fputs(" s old", out);
		}
		fprintf(out, ", thread %d\n", block->tid);
	}
}

static void write_site(const struct text_part *part, const struct report_site *shown)
{
	fprintf(part->out, "%s%" PRIu64 " bytes in %" PRIu64 " allocations from stack\n",
		part->indent, shown->site->bytes, shown->site->count);
	sink_text_write_stack(part, shown);
	sink_text_write_notes(part, shown);
	if (part->report->show_allocs)
		write_blocks(part, shown);
}

void sink_text_write_name(FILE *out, const char *name)
{
	fputs(" (", out);
	escape_puts(out, name);
	fputc(')', out);
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
		fputs("no one process", out);
		return;
	}
	if (by == BY_PROCESS) {
		fprintf(out, "process %d", process->pid);
		sink_text_write_name(out, process->comm ? process->comm : "?");
		return;
	}
	fprintf(out, "thread %d", group->sum->tid);
	if (group->thread)
		sink_text_write_name(out, group->thread);
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
	sink_text_write_group_notes(&head, group);
	for (size_t i = 0; i < group->site_cnt; i++)
		write_site(&sites, &group->sites[i]);
	if (group->site_cnt < group->sites_total)
		fprintf(out, "\t\t(%zu more stacks)\n", group->sites_total - group->site_cnt);
}

/* Sites that are not shown count, too: which process it is matters as soon as there are two. */
bool sink_text_several_processes(const struct snapshot *snap)
{
	const struct process *first = NULL;

	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct process *process = snap->sites[i].process;

		if (!process)
			continue;
		if (first && first->pid != process->pid)
			return true;
		first = process;
	}
	return false;
}

static void write_largest(const struct text_part *part, const struct report_site *shown)
{
	const struct block *block = &shown->site->largest;
	const struct process *process = shown->site->process;

	fprintf(part->out, "%slargest allocation", part->indent);
	if (process) {
		fprintf(part->out, " of process %d", process->pid);
		sink_text_write_name(part->out, process->comm ? process->comm : "?");
	}
	fprintf(part->out, ": %" PRIu64 " bytes at 0x%" PRIx64 ", ", block->size, block->addr);
	sink_text_write_seconds(part->out, block->age_ns);
	fprintf(part->out, " s old, %s, thread %d\n", kind_name(shown->site->kind), block->tid);
	sink_text_write_stack(part, shown);
}

/* What there was no room for. */
static void write_more(FILE *out, size_t cnt, const char *what)
{
	fprintf(out, "\t(%zu more %s)\n", cnt, what);
}

static int text_report(FILE *out, const struct report *report)
{
	bool with_process = sink_text_several_processes(report->snapshot);
	const struct text_part sites = {out, report, "\t", with_process};

	sink_verdict_write_text(out, report, with_process);
	fputc('[', out);
	sink_text_write_clock(out, report->snapshot->wall_ns);
	fprintf(out, "] Top %zu %s with outstanding allocations:\n",
		report->by == BY_STACK ? report->start_up_from : report->group_cnt,
		group_words[report->by]);
	for (size_t i = 0; report->by == BY_STACK && i < report->start_up_from; i++)
		write_site(&sites, &report->sites[i]);
	for (size_t i = 0; i < report->group_cnt; i++)
		write_group(out, report, &report->groups[i], with_process);
	if (report->group_cnt < report->groups_total)
		write_more(out, report->groups_total - report->group_cnt, group_words[report->by]);
	for (size_t i = 0; i < report->largest_cnt; i++)
		write_largest(&sites, &report->largest[i]);
	if (report->largest_cnt < report->largest_total)
		write_more(out, report->largest_total - report->largest_cnt,
			   "processes with a largest allocation");
	if (report->show_peak)
		sink_peak_write_text(out, report, with_process);
	if (report->show_summary)
		sink_stats_write_summary(out, report);
	sink_text_write_facts(out, report);
	sink_suppressions_write_start_up(out, &report->start_up);
	if (report->propose)
		sink_suppressions_propose_text(out, report);
	return 0;
}

static void text_event(FILE *out, const struct trace_event *event)
{
	const struct text_part stack = {.out = out, .indent = ""};

	sink_text_write_clock(out, event->wall_ns);
	fprintf(out, ".%03d %d/%d ", (int)(event->wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC),
		event->pid, event->tid);
	escape_puts(out, event->comm ? event->comm : "?");
	fputs(event->is_free ? " free " : " alloc ", out);
	escape_puts(out, event->function ? event->function : "?");
	fprintf(out, " 0x%" PRIx64 " ", event->addr);
	if (event->size == MEMLEAK_SIZE_UNKNOWN)
		fputs("size unknown\n", out);
	else
		fprintf(out, "%" PRIu64 " bytes\n", event->size);
	if (event->stack) {
		sink_text_write_stack(&stack, event->stack);
		sink_text_write_end(&stack, event->stack->site->end);
	}
}

const struct sink sink_text = {
	.name = "text",
	.says_losses = true,
	.report = text_report,
	.event = text_event,
	.counts = sink_count_write_text,
};
