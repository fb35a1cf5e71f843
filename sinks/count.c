// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes reports of --count, as a table and as JSON. */
#include "sinks/count.h"

#include <inttypes.h>

#include "base/escape.h"
#include "sinks/json_parts.h"
#include "sinks/text_part.h"

#define NSEC_PER_SEC 1000000000

static const struct {
	const char *one;
	const char *many;
	const char *head;
} words[] = {
	[COUNT_BY_NOTHING] = {"", "", ""},
	[COUNT_BY_CGROUP] = {"cgroup", "cgroups", "CGROUP"},
	[COUNT_BY_PROCESS] = {"process", "processes", "PID     COMM"},
	[COUNT_BY_FUNCTION] = {"function", "functions", "FUNCTION"},
};

static double per_second(const struct counts_report *report, uint64_t calls)
{
	uint64_t ns = report->counts->interval_ns;

	return ns ? (double)calls * NSEC_PER_SEC / (double)ns : 0;
}

static void write_row_name(FILE *out, const struct counts_report *report,
			   const struct count_row *row)
{
	if (row->key == COUNT_OTHERS) {
		fputs("(all others: the table has no room for more)", out);
		return;
	}
	if (report->counts->by == COUNT_BY_PROCESS)
		fprintf(out, "%-7" PRIu64 " ", row->key);
	if (row->name)
		escape_puts(out, row->name);
	else if (report->counts->by == COUNT_BY_CGROUP)
		fprintf(out, "(number %" PRIu64 ", removed since)", row->key);
	else
		fputc('?', out);
}

static void write_row(FILE *out, const struct counts_report *report, const struct count_row *row)
{
	fprintf(out, "\t%15" PRIu64 " %12.1f %15" PRIu64 " ", row->calls,
		per_second(report, row->calls), row->bytes);
}

void count_write_text(FILE *out, const struct counts_report *report)
{
	enum count_by by = report->counts->by;

	fputc('[', out);
	text_write_clock(out, report->snapshot->wall_ns);
	fprintf(out, "] Calls of allocator functions by %s, in ", words[by].one);
	text_write_seconds(out, report->counts->interval_ns);
	fprintf(out, " s:\n\t%15s %12s %15s %s\n", "CALLS", "CALLS/S", "BYTES", words[by].head);
	for (size_t i = 0; i < report->cnt; i++) {
		write_row(out, report, report->rows[i]);
		write_row_name(out, report, report->rows[i]);
		fputc('\n', out);
	}
	if (report->cnt < report->total)
		fprintf(out, "\t(%zu more %s)\n", report->total - report->cnt, words[by].many);
	write_row(out, report, &report->sum);
	fprintf(out, "all; %" PRIu64 " calls and %" PRIu64 " bytes since tracing began\n",
		report->sum.total_calls, report->sum.total_bytes);
	text_write_lost(out, report->snapshot->lost, false, false);
}

static void write_sums(struct json_writer *json, const struct count_row *row)
{
	json_unsigned(json, "calls", row->calls);
	json_unsigned(json, "bytes", row->bytes);
	json_begin_object(json, "total");
	json_unsigned(json, "calls", row->total_calls);
	json_unsigned(json, "bytes", row->total_bytes);
	json_end_object(json);
}

/*
 * Writes the name of a row and, unless rows are functions, its pid or cgroup id. In the row
 * COUNT_OTHERS, which has the calls of all processes or cgroups without a row of their own, the pid
 * or cgroup id is null.
 */
static void write_json_name(struct json_writer *json, enum count_by by, const struct count_row *row)
{
	bool known = row->key != COUNT_OTHERS;

	if (by == COUNT_BY_FUNCTION) {
		json_string(json, "function", row->name);
		return;
	}
	if (known)
		json_unsigned(json, by == COUNT_BY_PROCESS ? "pid" : "id", row->key);
	else
		json_null(json, by == COUNT_BY_PROCESS ? "pid" : "id");
	json_string(json, by == COUNT_BY_PROCESS ? "comm" : "cgroup", row->name);
}

void count_write_json(FILE *out, const struct counts_report *report)
{
	struct json_writer json;

	json_init(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak-count/1");
	json_write_time(&json, report->snapshot->wall_ns);
	json_unsigned(&json, "elapsed_ns", report->snapshot->elapsed_ns);
	json_unsigned(&json, "interval_ns", report->counts->interval_ns);
	json_bool(&json, "final", report->final);
	json_string(&json, "by", words[report->counts->by].one);
	write_sums(&json, &report->sum);
	json_unsigned(&json, "entries_total", report->total);
	json_begin_array(&json, "entries");
	for (size_t i = 0; i < report->cnt; i++) {
		json_begin_object(&json, NULL);
		write_json_name(&json, report->counts->by, report->rows[i]);
		write_sums(&json, report->rows[i]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_write_lost(&json, report->snapshot->lost);
	json_end_object(&json);
	fputc('\n', out);
}
