// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report for people, in the form of bcc's memleak: the header, the line that ends in "from
 * stack" and the frames below it are read by scripts and never change. What bcc does not say
 * stands in lines of its own, below the frames.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "loader/escape.h"
#include "loader/sink.h"
#include "loader/sink_stats.h"
#include "loader/sink_text.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000
#define SHOWN_PATH_PARTS 2

static const char *const group_words[] = {
	[BY_STACK] = "stacks",
	[BY_PROCESS] = "processes",
	[BY_MODULE] = "modules",
	[BY_THREAD] = "threads",
};

static void write_clock(FILE *out, int64_t wall_ns)
{
	time_t seconds = wall_ns / NSEC_PER_SEC;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		fprintf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		fputs("--:--:--", out);
}

/* The last parts of a path: enough to tell two of one name apart, short enough to read. */
static const char *path_tail(const char *path, unsigned int parts)
{
	const char *at = path + strlen(path);

	while (at > path) {
		if (at[-1] == '/' && *at && --parts == 0)
			break;
		at--;
	}
	return at;
}

static bool is_known(const char *name)
{
	return name && *name;
}

/* "[vdso]" comes with its brackets. */
static void write_module(FILE *out, const char *module)
{
	if (*module == '[') {
		escape_puts(out, module);
		return;
	}
	fputc('[', out);
	escape_puts(out, path_tail(module, 1));
	fputc(']', out);
}

static void write_unnamed(const struct text_part *part, uint64_t frame,
			  const struct sym_location *location)
{
	FILE *out = part->out;
	uint64_t addr = frame_address(frame, location);

	fprintf(out, "%s\t", part->indent);
	if (addr)
		fprintf(out, "0x%" PRIx64 " ", addr);
	if (location && is_known(location->module)) {
		escape_puts(out, path_tail(location->module, 1));
		fprintf(out, "+0x%" PRIx64 "\n", location->module_offset);
	} else {
		fputs("[unknown]\n", out);
	}
}

static void write_frame(const struct text_part *part, uint64_t addr,
			const struct sym_location *location, const struct sym_frame *frame)
{
	FILE *out = part->out;

	if (!is_known(frame->symbol)) {
		write_unnamed(part, addr, location);
		return;
	}
	fprintf(out, "%s\t", part->indent);
	escape_puts(out, frame->symbol);
	if (!frame->inlined)
		fprintf(out, "+0x%" PRIx64, frame->offset);
	if (is_known(frame->file)) {
		fputc(' ', out);
		escape_puts(out, path_tail(frame->file, SHOWN_PATH_PARTS));
		if (frame->line)
			fprintf(out, ":%u", frame->line);
	}
	if (is_known(location->module)) {
		fputc(' ', out);
		write_module(out, location->module);
	}
	fputs(frame->inlined ? " (inlined)\n" : "\n", out);
}

static void write_stack(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;

	if (!site->frame_cnt)
		fprintf(part->out, "%s\t(stack not known%s)\n", part->indent,
			part->report->snapshot->lost[MEMLEAK_LOST_STACKS_FULL]
				? ": the stack table was full, raise --stack-storage-size"
				: "");
	for (size_t i = shown->first_frame; i < site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->frame_cnt)
			write_unnamed(part, site->frames[i], location);
		for (size_t j = 0; location && j < location->frame_cnt; j++)
			write_frame(part, site->frames[i], location, &location->frames[j]);
	}
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
	write_stack(part, shown);
	sink_text_write_notes(part, shown);
	if (part->report->show_allocs)
		write_blocks(part, shown);
}

static void write_name(FILE *out, const char *name)
{
	fputs(" (", out);
	escape_puts(out, name);
	fputc(')', out);
}

/* What follows "from". */
static void write_group_name(FILE *out, enum group_by by, const struct report_group *group)
{
	const struct process *process = group->sum->process;

	if (by == BY_MODULE) {
		fputs("module ", out);
		escape_puts(out, is_known(group->module) ? group->module : "[unknown]");
		return;
	}
	if (by == BY_PROCESS && !process) {
		fputs("no one process", out);
		return;
	}
	if (by == BY_PROCESS) {
		fprintf(out, "process %d", process->pid);
		write_name(out, process->comm ? process->comm : "?");
		return;
	}
	fprintf(out, "thread %d", group->sum->tid);
	if (group->thread)
		write_name(out, group->thread);
	if (process)
		fprintf(out, " of %d", process->pid);
	if (!group->thread)
		fputs(", which has ended", out);
}

static void write_group(FILE *out, const struct report *report, const struct report_group *group,
			bool with_process)
{
	const struct text_part head = {out, report, "\t", false};
	const struct text_part sites = {out, report, "\t\t",
					with_process && report->by == BY_MODULE};

	fprintf(out, "\t%" PRIu64 " bytes in %" PRIu64 " allocations from ", group->sum->bytes,
		group->sum->count);
	write_group_name(out, report->by, group);
	fputc('\n', out);
	sink_text_write_group_notes(&head, group);
	for (size_t i = 0; i < group->site_cnt; i++)
		write_site(&sites, &group->sites[i]);
	if (group->site_cnt < group->sites_total)
		fprintf(out, "\t\t(%zu more stacks)\n", group->sites_total - group->site_cnt);
}

/* Sites that are not shown count, too: which process it is matters as soon as there are two. */
static bool has_several_processes(const struct snapshot *snap)
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

static void write_totals(FILE *out, const struct report *report)
{
	/* No "bytes in N allocations" here: scripts would take it for a stack. */
	fprintf(out, "\toutstanding: %" PRIu64 " bytes, %" PRIu64 " allocations, %zu sites",
		report->bytes, report->count, report->sites_total);
	if (report->by != BY_STACK)
		fprintf(out, " of %zu %s", report->groups_total, group_words[report->by]);
	write_complete(out, report);
	fputc('\n', out);
	if (report->inherited_count)
		fprintf(out,
			"\tinherited: %" PRIu64 " bytes, %" PRIu64 " allocations, which children "
			"have of their parents in memory that is shared until it is written\n",
			report->inherited_bytes, report->inherited_count);
	write_sampling(out, report);
}

static void write_largest(const struct text_part *part, const struct report_site *shown)
{
	const struct block *block = &shown->site->largest;
	const struct process *process = shown->site->process;

	fprintf(part->out, "%slargest allocation", part->indent);
	if (process) {
		fprintf(part->out, " of process %d", process->pid);
		write_name(part->out, process->comm ? process->comm : "?");
	}
	fprintf(part->out, ": %" PRIu64 " bytes at 0x%" PRIx64 ", ", block->size, block->addr);
	sink_text_write_seconds(part->out, block->age_ns);
	fprintf(part->out, " s old, %s, thread %d\n", kind_name(shown->site->kind), block->tid);
	write_stack(part, shown);
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

/* all: also those by which nothing was. */
static void write_lost(FILE *out, const uint64_t *lost, bool all)
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

static void text_report(FILE *out, const struct report *report)
{
	bool with_process = has_several_processes(report->snapshot);
	const struct text_part sites = {out, report, "\t", with_process};

	fputc('[', out);
	write_clock(out, report->snapshot->wall_ns);
	fprintf(out, "] Top %zu %s with outstanding allocations:\n",
		report->by == BY_STACK ? report->site_cnt : report->group_cnt,
		group_words[report->by]);
	for (size_t i = 0; report->by == BY_STACK && i < report->site_cnt; i++)
		write_site(&sites, &report->sites[i]);
	for (size_t i = 0; i < report->group_cnt; i++)
		write_group(out, report, &report->groups[i], with_process);
	for (size_t i = 0; i < report->largest_cnt; i++)
		write_largest(&sites, &report->largest[i]);
	if (report->show_summary)
		sink_stats_write_summary(out, report->snapshot);
	write_totals(out, report);
	write_inferred(out, report->snapshot);
	if (report->show_stats)
		sink_stats_write_text(out, report->snapshot);
	write_lost(out, report->snapshot->lost, report->show_stats);
}

static void text_event(FILE *out, const struct trace_event *event)
{
	write_clock(out, event->wall_ns);
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
}

const struct sink sink_text = {
	.name = "text",
	.report = text_report,
	.event = text_event,
};
