// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes reports as CSV (RFC 4180) for spreadsheets and data frames. The first row is a header.
 * Then each report has one row for each of its sites. An unknown value is an empty field.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "report/frame_walk.h"
#include "report/listing.h"
#include "sinks/folded.h"
#include "sinks/json_parts.h"
#include "sinks/sink.h"
#include "sinks/text_part.h"

#define NSEC_PER_MSEC 1000000

static const char header[] =
	"time,final,site,space,kind,pid,comm,bytes,count,bytes_error,count_error,growth_bytes,"
	"growth_count,oldest_ms,newest_ms,function,file,line,module,stack,definite_bytes,"
	"definite_count,indirect_bytes,indirect_count,possible_bytes,possible_count,"
	"reachable_bytes,reachable_count,lost_bytes,lost_count,lost_with_them_bytes,"
	"lost_with_them_count,held_by\r\n";

/*
 * Writes text in quotes, without control characters. If the text begins like a formula, puts an
 * apostrophe before it: a spreadsheet would evaluate the formula, and a hostile program could
 * choose such a name.
 */
static void write_text(FILE *out, const char *text)
{
	size_t len;

	if (!text || !*text)
		return;
	fputc('"', out);
	if (strchr("=+-@\t\r\n", *text))
		fputc('\'', out);
	for (; *text; text += len) {
		len = strcspn(text, "\"");
		escape_write(out, text, len);
		if (text[len]) {
			fputs("\"\"", out);
			len++;
		}
	}
	fputc('"', out);
}

static void write_error(FILE *out, const struct report *report, double variance)
{
	if (report->snapshot->sampling.mode != SAMPLING_NONE && !isnan(variance))
		fprintf(out, "%" PRIu64, estimate_error(variance));
	fputc(',', out);
}

static void write_age(FILE *out, uint64_t age_ns)
{
	if (age_ns != AGE_UNKNOWN)
		fprintf(out, "%" PRIu64, age_ns / NSEC_PER_MSEC);
	fputc(',', out);
}

static void write_identity(FILE *out, const struct report *report, const struct site *site)
{
	char time[TIME_TEXT_SIZE];

	if (time_text(report->snapshot->wall_ns, time))
		fputs(time, out);
	fprintf(out, ",%d,%016" PRIx64 ",%s,%s,", report->final, site->id,
		site->space == SPACE_KERNEL ? "kernel" : "user", kind_name(site->kind));
	if (site->process)
		fprintf(out, "%d", site->process->pid);
	fputc(',', out);
	if (site->process)
		write_text(out, site->process->comm);
	fputc(',', out);
}

static void write_numbers(FILE *out, const struct report *report, const struct report_site *shown)
{
	const struct site *site = shown->site;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",", site->bytes, site->count);
	write_error(out, report, site->bytes_variance);
	write_error(out, report, site->count_variance);
	fprintf(out, "%" PRId64 ",%" PRId64 ",", shown->growth_bytes, shown->growth_count);
	write_age(out, site->oldest_ns);
	write_age(out, site->newest_ns);
}

static void write_blamed(FILE *out, const struct report_site *shown)
{
	struct frame_walk walk;
	bool known = frame_walk_blamed(&walk, shown);

	if (known && walk.frame)
		write_text(out, walk.frame->symbol);
	fputc(',', out);
	if (known && walk.frame)
		write_text(out, walk.frame->file);
	fputc(',', out);
	if (known && walk.frame && walk.frame->line)
		fprintf(out, "%u", walk.frame->line);
	fputc(',', out);
	if (known && walk.location)
		write_text(out, walk.location->module);
	fputc(',', out);
}

/* Writes the stack of a site as in the format "folded". */
static int write_stack(FILE *out, const struct report_site *shown)
{
	cleanup_free char *stack = NULL;
	size_t len;
	FILE *stream = open_memstream(&stack, &len);
	int err = stream ? folded_write_stack(stream, shown) : -ENOMEM;

	if (stream && fclose(stream))
		err = -ENOMEM;
	if (!err)
		write_text(out, stack);
	return err;
}

/* Writes the chain of holders, root first, as in a text report. */
static int write_held_by(FILE *out, const struct report_site *shown)
{
	cleanup_free char *chain = NULL;
	size_t len;
	FILE *stream = open_memstream(&chain, &len);

	if (!stream)
		return -ENOMEM;
	text_write_chain(stream, shown);
	if (fclose(stream))
		return -ENOMEM;
	write_text(out, chain);
	return 0;
}

static void write_sum(FILE *out, const struct reach_sum *sum)
{
	fprintf(out, ",%" PRIu64 ",%" PRIu64, sum->bytes, sum->count);
}

/* Writes the columns for the result of a proof. */
static int write_reach(FILE *out, const struct report_site *shown)
{
	const struct site_reach *reach = &shown->site->reach;

	if (!reach->proved) {
		fputs(",,,,,,,,,,,,,", out);
		return 0;
	}
	for (size_t i = 0; i < REACH_CNT; i++)
		write_sum(out, &reach->of[i]);
	write_sum(out, &reach->lost);
	write_sum(out, &reach->hanging);
	fputc(',', out);
	return write_held_by(out, shown);
}

static void csv_header(FILE *out)
{
	fputs(header, out);
}

static int csv_report(FILE *out, const struct report *report)
{
	cleanup_free const struct report_site **sites = NULL;
	size_t cnt;
	int err = report_list(report, report->site_cnt, &cnt, &sites);

	for (size_t i = 0; !err && i < cnt; i++) {
		const struct report_site *shown = sites[i];

		write_identity(out, report, shown->site);
		write_numbers(out, report, shown);
		write_blamed(out, shown);
		err = write_stack(out, shown);
		if (!err)
			err = write_reach(out, shown);
		fputs("\r\n", out);
	}
	return err;
}

const struct sink sink_csv = {
	.name = "csv",
	.header = csv_header,
	.report = csv_report,
};
