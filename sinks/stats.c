// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the statistics of user memory, kernel memory and each process, as text and as JSON. */
#include "sinks/stats.h"

#include <inttypes.h>

#include "base/escape.h"

static const char *const space_names[SPACE_CNT] = {
	[SPACE_USER] = "user",
	[SPACE_KERNEL] = "kernel",
};

/* Writes the number of calls of each family of functions. */
static void write_calls(FILE *out, const struct stats *stats)
{
	const char *before = ": ";

	fprintf(out, "%" PRIu64 " calls", stats->calls);
	for (unsigned int i = 0; i < FAMILY_CNT; i++) {
		if (!stats->calls_of[i] || !family_name(i))
			continue;
		fprintf(out, "%s%" PRIu64 " %s", before, stats->calls_of[i], family_name(i));
		before = ", ";
	}
	if (stats->failed)
		fprintf(out, "; %" PRIu64 " failed", stats->failed);
}

static void write_tables(FILE *out, const struct stats *stats)
{
	static const char *const begin = "tables: ";
	const char *before = begin;

	for (unsigned int i = 0; i < TABLE_CNT; i++) {
		const struct fill *fill = &stats->fills[i];

		if (!fill->size)
			continue;
		fprintf(out, "%s%" PRIu64 " of %" PRIu64 " %s", before, fill->used, fill->size,
			table_name(i));
		before = ", ";
	}
	if (before == begin)
		fputs("tables: unknown (recorded without --stats)", out);
}

void stats_write_text(FILE *out, const struct snapshot *snap)
{
	for (unsigned int i = 0; i < SPACE_CNT; i++) {
		const struct stats *stats = &snap->stats[i];

		if (!stats->known)
			continue;
		fprintf(out, "\t%s: ", space_names[i]);
		write_calls(out, stats);
		fprintf(out,
			"\n\t%s: stacks: %" PRIu64 " walked, %" PRIu64
			" from the stack cache, %" PRIu64 " stored; %" PRIu64
			" from the cache were walked as a check, %" PRIu64 " differed\n\t%s: ",
			space_names[i], stats->walked, stats->cached, stats->stored, stats->checked,
			stats->disagreed, space_names[i]);
		write_tables(out, stats);
		fputc('\n', out);
	}
}

static void write_functions(struct json_writer *json, const uint64_t *calls_of)
{
	json_begin_object(json, "functions");
	for (unsigned int i = 0; i < FAMILY_CNT; i++)
		if (family_name(i))
			json_unsigned(json, family_name(i), calls_of[i]);
	json_end_object(json);
}

static void write_fill(struct json_writer *json, const char *name, const struct fill *fill)
{
	if (!fill->size) {
		json_null(json, name);
		return;
	}
	json_begin_object(json, name);
	json_unsigned(json, "used", fill->used);
	json_unsigned(json, "size", fill->size);
	json_end_object(json);
}

static void write_space(struct json_writer *json, enum address_space space,
			const struct stats *stats)
{
	json_begin_object(json, space_names[space]);
	json_unsigned(json, "calls", stats->calls);
	if (space == SPACE_USER) {
		write_functions(json, stats->calls_of);
		json_unsigned(json, "failed", stats->failed);
	}
	json_begin_object(json, "stacks");
	json_unsigned(json, "walked", stats->walked);
	json_unsigned(json, "recognised", stats->cached);
	json_unsigned(json, "stored", stats->stored);
	json_unsigned(json, "checked", stats->checked);
	json_unsigned(json, "wrong", stats->disagreed);
	json_end_object(json);
	json_begin_object(json, "tables");
	for (unsigned int i = 0; i < TABLE_CNT; i++)
		write_fill(json, table_name(i), &stats->fills[i]);
	json_end_object(json);
	json_end_object(json);
}

void stats_write_json(struct json_writer *json, const struct snapshot *snap)
{
	json_begin_object(json, "stats");
	for (unsigned int i = 0; i < SPACE_CNT; i++) {
		if (snap->stats[i].known)
			write_space(json, i, &snap->stats[i]);
		else
			json_null(json, space_names[i]);
	}
	json_end_object(json);
}

/* Writes a cell of the table with an amount; in bcc's format, the exact number of bytes. */
static void write_cell(const struct text_part *part, uint64_t bytes)
{
	char text[AMOUNT_TEXT_SIZE];

	text_amount((double)bytes, text);
	if (part->look == LOOK_BCC)
		fprintf(part->out, " %15" PRIu64, bytes);
	else
		fprintf(part->out, " %15s", text);
}

/*
 * Writes a table with a row for each process. The process name is the last column, because the
 * width of its characters is not known.
 */
void stats_write_summary(const struct text_part *part)
{
	const struct report *report = part->report;
	FILE *out = part->out;

	fprintf(out, "\t%7s %15s %15s %15s %15s %15s %12s %s\n", "PID", "ALLOCATED", "FREED",
		"OUTSTANDING", "PEAK", "LARGEST", "CALLS", "COMM");
	for (size_t i = 0; i < report->summary_cnt; i++) {
		const struct process_summary *summary = report->summaries[i];

		fprintf(out, "\t%7d", summary->process->pid);
		write_cell(part, summary->allocated);
		write_cell(part, summary->freed);
		write_cell(part, summary->outstanding);
		write_cell(part, summary->peak);
		write_cell(part, summary->largest);
		fprintf(out, " %12" PRIu64 " ", summary->calls);
		escape_puts(out, summary->process->comm ? summary->process->comm : "?");
		fputc('\n', out);
	}
	if (report->summary_cnt < report->snapshot->summary_cnt)
		text_write_more(out, "\t", report->snapshot->summary_cnt - report->summary_cnt,
				"process");
}

void stats_write_json_summary(struct json_writer *json, const struct report *report)
{
	json_begin_array(json, "summary");
	for (size_t i = 0; i < report->summary_cnt; i++) {
		const struct process_summary *summary = report->summaries[i];

		json_begin_object(json, NULL);
		json_signed(json, "pid", summary->process->pid);
		json_string(json, "comm", summary->process->comm);
		json_unsigned(json, "allocated", summary->allocated);
		json_unsigned(json, "freed", summary->freed);
		json_unsigned(json, "outstanding", summary->outstanding);
		json_unsigned(json, "peak", summary->peak);
		json_unsigned(json, "largest", summary->largest);
		json_unsigned(json, "calls", summary->calls);
		write_functions(json, summary->calls_of);
		json_end_object(json);
	}
	json_end_array(json);
	json_unsigned(json, "summary_total", report->snapshot->summary_cnt);
}
