// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes lists in both text formats: sites with their blocks, groups, largest blocks, events. */
#include "sinks/text_lists.h"

#include <inttypes.h>

#include "base/escape.h"

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

void text_write_listed_site(const struct text_part *part, const struct report_site *shown)
{
	text_write_site(part, shown);
	if (part->report->show_allocs)
		write_blocks(part, shown);
}

/* Writes the name of a group, after a word such as "from" or "of" that the caller has written. */
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

static void write_group_sums(const struct text_part *part, const struct site *sum)
{
	if (part->look == LOOK_BCC) {
		fprintf(part->out, "%s%" PRIu64 " bytes in %" PRIu64 " allocations from ",
			part->indent, sum->bytes, sum->count);
		return;
	}
	fputs(part->indent, part->out);
	text_write_held_in_blocks(part, sum->bytes, sum->count);
	fputs(" of ", part->out);
}

static void write_group(const struct text_part *part, const struct report_group *group)
{
	const struct report *report = part->report;
	struct text_part sites = *part;

	sites.indent = part->look == LOOK_BCC ? "\t\t" : "    ";
	sites.with_process &= report->by == BY_MODULE || report->by == BY_CGROUP;
	write_group_sums(part, group->sum);
	write_group_name(part->out, report->by, group, report->recorded);
	fputc('\n', part->out);
	text_write_group_notes(part, group);
	for (size_t i = 0; i < group->site_cnt; i++) {
		sites.above = i ? &group->sites[i - 1] : NULL;
		text_write_listed_site(&sites, &group->sites[i]);
	}
	if (group->site_cnt < group->sites_total)
		text_write_more(part->out, sites.indent, group->sites_total - group->site_cnt,
				"stack");
}

void text_write_groups(const struct text_part *part)
{
	const struct report *report = part->report;

	for (size_t i = 0; i < report->group_cnt; i++)
		write_group(part, &report->groups[i]);
	if (report->group_cnt < report->groups_total)
		text_write_more(part->out, part->indent, report->groups_total - report->group_cnt,
				text_group_word(report->by));
}

static void write_one_largest(const struct text_part *part, const struct report_site *shown)
{
	const struct block *block = &shown->site->largest;
	const struct process *process = shown->site->process;

	fprintf(part->out, "%slargest allocation", part->indent);
	if (process) {
		fprintf(part->out, " of process %d", process->pid);
		text_write_name(part->out, process->comm ? process->comm : "?");
	}
	fputs(": ", part->out);
	text_write_bytes(part, block->size);
	fprintf(part->out, " at 0x%" PRIx64 ", ", block->addr);
	text_write_seconds(part->out, block->age_ns);
	fprintf(part->out, " s old, %s, thread %d\n", kind_name(shown->site->kind), block->tid);
	if (part->look == LOOK_BCC)
		text_write_stack(part, shown);
	else
		text_write_folded_stack(part, shown);
}

void text_write_largest(const struct text_part *part)
{
	const struct report *report = part->report;

	for (size_t i = 0; i < report->largest_cnt; i++)
		write_one_largest(part, &report->largest[i]);
	if (report->largest_cnt < report->largest_total)
		text_write_more(part->out, part->indent,
				report->largest_total - report->largest_cnt, "largest allocation");
}

void text_write_event(FILE *out, const struct trace_event *event)
{
	const struct text_part stack = {.out = out, .indent = "", .short_names = true};

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
