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
#include "loader/sink_text.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000
#define SHOWN_PATH_PARTS 2

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

static void write_unnamed(FILE *out, uint64_t frame, const struct sym_location *location)
{
	uint64_t addr = frame_address(frame, location);

	fputs("\t\t", out);
	if (addr)
		fprintf(out, "0x%" PRIx64 " ", addr);
	if (location && is_known(location->module)) {
		escape_puts(out, path_tail(location->module, 1));
		fprintf(out, "+0x%" PRIx64 "\n", location->module_offset);
	} else {
		fputs("[unknown]\n", out);
	}
}

static void write_frame(FILE *out, uint64_t addr, const struct sym_location *location,
			const struct sym_frame *frame)
{
	if (!is_known(frame->symbol)) {
		write_unnamed(out, addr, location);
		return;
	}
	fputs("\t\t", out);
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

static void write_stack(FILE *out, const struct report *report, const struct report_site *shown)
{
	const struct site *site = shown->site;

	if (!site->frame_cnt)
		fprintf(out, "\t\t(stack not known%s)\n",
			report->snapshot->lost[MEMLEAK_LOST_STACKS_FULL]
				? ": the stack table was full, raise --stack-storage-size"
				: "");
	for (size_t i = shown->first_frame; i < site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		if (!location || !location->frame_cnt)
			write_unnamed(out, site->frames[i], location);
		for (size_t j = 0; location && j < location->frame_cnt; j++)
			write_frame(out, site->frames[i], location, &location->frames[j]);
	}
}

static void write_blocks(FILE *out, const struct report_site *shown)
{
	for (size_t i = 0; i < shown->block_cnt; i++) {
		const struct block *block = &shown->blocks[i];

		fprintf(out, "\t\t0x%" PRIx64 " %" PRIu64 " bytes", block->addr, block->size);
		if (block->age_ns != AGE_UNKNOWN) {
			fputs(", ", out);
			sink_text_write_seconds(out, block->age_ns);
			fputs(" s old", out);
		}
		fprintf(out, ", thread %d\n", block->tid);
	}
}

static void write_site(FILE *out, const struct report *report, const struct report_site *shown,
		       bool with_process)
{
	fprintf(out, "\t%" PRIu64 " bytes in %" PRIu64 " allocations from stack\n",
		shown->site->bytes, shown->site->count);
	write_stack(out, report, shown);
	sink_text_write_notes(out, report, shown, with_process);
	if (report->show_allocs)
		write_blocks(out, shown);
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
	write_complete(out, report);
	fputc('\n', out);
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

static void write_lost(FILE *out, const uint64_t *lost)
{
	for (size_t i = 0; i < MEMLEAK_LOST_CNT; i++) {
		const struct lost_text *text = &lost_texts[i];

		if (!lost[i])
			continue;
		fprintf(out, "\tlost: %" PRIu64 " %s", lost[i], text->words);
		if (text->remedy)
			fprintf(out, " (%s)", text->remedy);
		fputc('\n', out);
	}
}

static void text_report(FILE *out, const struct report *report)
{
	bool with_process = has_several_processes(report->snapshot);

	fputc('[', out);
	write_clock(out, report->snapshot->wall_ns);
	fprintf(out, "] Top %zu stacks with outstanding allocations:\n", report->site_cnt);
	for (size_t i = 0; i < report->site_cnt; i++)
		write_site(out, report, &report->sites[i], with_process);
	write_totals(out, report);
	write_inferred(out, report->snapshot);
	write_lost(out, report->snapshot->lost);
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
