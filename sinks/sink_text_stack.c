// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames in the report for people: a line for each function, inlined ones, too. */
#include <inttypes.h>
#include <string.h>

#include "report/culprit.h"
#include "sinks/escape.h"
#include "sinks/sink_text.h"

#define SHOWN_PATH_PARTS 2

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

static void write_place(FILE *out, const struct sym_location *location)
{
	if (location && is_known(location->module)) {
		escape_puts(out, path_tail(location->module, 1));
		fprintf(out, "+0x%" PRIx64, location->module_offset);
	} else {
		fputs("[unknown]", out);
	}
}

static void write_unnamed(const struct text_part *part, uint64_t frame,
			  const struct sym_location *location)
{
	FILE *out = part->out;
	uint64_t addr = frame_address(frame, location);

	fprintf(out, "%s\t", part->indent);
	if (addr)
		fprintf(out, "0x%" PRIx64 " ", addr);
	write_place(out, location);
	fputc('\n', out);
}

static void write_line_of(FILE *out, const struct sym_frame *frame)
{
	if (!is_known(frame->file))
		return;
	fputc(' ', out);
	escape_puts(out, path_tail(frame->file, SHOWN_PATH_PARTS));
	if (frame->line)
		fprintf(out, ":%u", frame->line);
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
	write_line_of(out, frame);
	if (is_known(location->module)) {
		fputc(' ', out);
		write_module(out, location->module);
	}
	fputs(frame->inlined ? " (inlined)\n" : "\n", out);
}

void sink_text_write_stack(const struct text_part *part, const struct report_site *shown)
{
	const struct site *site = shown->site;

	if (!site->frame_cnt)
		fprintf(part->out, "%s\t(stack not known%s)\n", part->indent,
			part->report && part->report->snapshot->lost[MEMLEAK_LOST_STACKS_FULL]
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

/* Functions in a row: the first has its place in the sources, or the first of which that is known.
 */
struct row {
	FILE *out;
	unsigned int cnt;
	bool has_line;
};

static void write_function(struct row *row, const struct sym_location *location,
			   const struct sym_frame *frame)
{
	FILE *out = row->out;

	if (row->cnt)
		fputs(row->cnt == 1 ? ", called by " : " < ", out);
	row->cnt++;
	if (!frame || !is_known(frame->symbol)) {
		write_place(out, location);
		return;
	}
	escape_puts(out, frame->symbol);
	if (row->has_line || !is_known(frame->file))
		return;
	write_line_of(out, frame);
	row->has_line = true;
}

void sink_text_write_culprit(const struct text_part *part, const struct report_site *shown,
			     unsigned int callers)
{
	const struct site *site = shown->site;
	struct row row = {.out = part->out};

	if (!site->frame_cnt)
		fputs("a stack that is not known", part->out);
	for (size_t i = shown->culprit.frame; i < site->frame_cnt && row.cnt <= callers; i++) {
		const struct sym_location *location = shown->locations[i];

		if (row.cnt && frame_is_start(location))
			break;
		if (!location || !location->frame_cnt)
			write_function(&row, location, NULL);
		for (size_t j = row.cnt ? 0 : shown->culprit.function;
		     location && j < location->frame_cnt && row.cnt <= callers; j++)
			write_function(&row, location, &location->frames[j]);
	}
	if (site->tid)
		fprintf(part->out, ", of thread %d", site->tid);
	if (part->with_process && site->process) {
		fprintf(part->out, ", of process %d (", site->process->pid);
		escape_puts(part->out, site->process->comm ? site->process->comm : "?");
		fputs("),", part->out);
	} else if (site->tid || (callers && row.cnt > 1)) {
		fputc(',', part->out);
	}
}
