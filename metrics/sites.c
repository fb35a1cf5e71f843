// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a row for each site or group that a report shows, and one row for the sum of all other
 * sites or groups.
 */
#include "metrics/sites.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "report/frame_walk.h"
#include "report/function_name.h"
#include "report/listing.h"

static const struct metric_family site_bytes = {
	"memleak_site_outstanding_bytes", METRIC_GAUGE, "bytes",
	"Bytes outstanding of the stacks shown, and of all others together."};
static const struct metric_family site_blocks = {
	"memleak_site_outstanding_blocks", METRIC_GAUGE, "blocks",
	"Blocks outstanding of the stacks shown, and of all others together."};
static const struct metric_family site_growth = {"memleak_site_growth_bytes_per_second",
						 METRIC_GAUGE, "bytes_per_second",
						 "Growth rate, known after a few reports."};
static const struct metric_family site_score = {
	"memleak_site_leak_score", METRIC_GAUGE, NULL,
	"How much the site looks like a leak, from 0 to 1, known after a few reports."};

static const struct metric_family group_bytes = {
	"memleak_group_outstanding_bytes", METRIC_GAUGE, "bytes",
	"Bytes outstanding of each --by group shown, and of all others together."};
static const struct metric_family group_blocks = {
	"memleak_group_outstanding_blocks", METRIC_GAUGE, "blocks",
	"Blocks outstanding of each --by group shown, and of all others together."};
static const struct metric_family group_growth = {"memleak_group_growth_bytes_per_second",
						  METRIC_GAUGE, "bytes_per_second",
						  "Growth rate, known after a few reports."};
static const struct metric_family group_score = {
	"memleak_group_leak_score", METRIC_GAUGE, NULL,
	"How much the group looks like a leak, from 0 to 1, known after a few reports."};

static const struct metric_family site_lost_bytes = {
	"memleak_site_lost_bytes", METRIC_GAUGE, "bytes",
	"Bytes that nothing points to, of the stacks shown, and of all others together."};
static const struct metric_family site_lost_blocks = {
	"memleak_site_lost_blocks", METRIC_GAUGE, "blocks",
	"Blocks that nothing points to, of the stacks shown, and of all others together."};
static const struct metric_family group_lost_bytes = {
	"memleak_group_lost_bytes", METRIC_GAUGE, "bytes",
	"Bytes that nothing points to, of each --by group shown, and of all others together."};
static const struct metric_family group_lost_blocks = {
	"memleak_group_lost_blocks", METRIC_GAUGE, "blocks",
	"Blocks that nothing points to, of each --by group shown, and of all others together."};

/* Maximum number of rows of a metric: collectors store each row. */
#define ROWS_MAX 1000

#define CALLERS_MAX 4

size_t metrics_rows(size_t shown)
{
	return shown < ROWS_MAX ? shown : ROWS_MAX;
}

void metrics_label_process(struct metrics_text *text, const struct process *process)
{
	if (!process)
		return;
	metrics_label_of(text, "pid", "%d", process->pid);
	metrics_label(text, "comm", process->comm);
}

/* Adds labels for the blamed function: its name, or its module and offset if it has no name. */
static void label_blamed(struct metrics_text *text, const struct report_site *shown,
			 bool is_template)
{
	static const struct sym_location nowhere;
	struct frame_walk walk;
	bool known = frame_walk_blamed(&walk, shown);
	const struct sym_location *location = known ? walk.location : NULL;
	const struct sym_frame *frame = known ? walk.frame : NULL;
	cleanup_free char *name = NULL;

	if (!location)
		location = &nowhere;
	if (is_template && frame && sym_is_known(frame->symbol))
		name = function_name_template(frame->symbol);
	if (frame && sym_is_known(frame->symbol))
		metrics_label(text, "function", name ?: frame->symbol);
	else if (sym_is_known(location->module))
		metrics_label_of(text, "function", "%s+0x%" PRIx64, path_name(location->module),
				 location->module_offset);
	else
		metrics_label(text, "function", "[unknown]");
	if (frame && sym_is_known(frame->file) && frame->line)
		metrics_label_of(text, "file", "%s:%u", frame->file, frame->line);
	else if (frame)
		metrics_label(text, "file", frame->file);
	metrics_label(text, "module", location->module);
}

/*
 * Returns the names of up to CALLERS_MAX callers of the blamed function, the nearest first, to be
 * freed. Returns "" if no caller is known, NULL if out of memory.
 */
static char *callers_of(const struct report_site *shown)
{
	char *names = NULL;
	size_t len, skip = shown->blamed.function + 1, cnt = 0;
	FILE *out = open_memstream(&names, &len);

	if (!out)
		return NULL;
	for (size_t i = shown->blamed.frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		for (size_t j = skip; location && j < location->frame_cnt; j++)
			if (cnt < CALLERS_MAX && sym_is_known(location->frames[j].symbol))
				fprintf(out, "%s%s", cnt++ ? " < " : "",
					location->frames[j].symbol);
		skip = 0;
	}
	fclose(out);
	return names;
}

void metrics_begin_site(struct metrics_text *text, const struct report_site *shown,
			bool is_template)
{
	const struct site *site = shown->site;
	cleanup_free char *callers = callers_of(shown);

	metrics_begin(text);
	metrics_label_of(text, "site", "%016" PRIx64, site->id);
	metrics_label(text, "space", site->space == SPACE_KERNEL ? "kernel" : "user");
	metrics_label(text, "kind", kind_name(site->kind));
	metrics_label_process(text, site->process);
	label_blamed(text, shown, is_template);
	metrics_label(text, "callers", callers);
	metrics_label(text, "cache", site->origin.cache);
}

static bool is_judged(const struct site_history *history)
{
	return history && history->trend.tendency != TENDENCY_UNKNOWN;
}

/*
 * Returns the growth rate of a site or group in bytes/s; 0 if no rate was computed because the size
 * has never changed.
 */
static double growth_of(const struct site_history *history)
{
	double bytes_per_s = history->trend.bytes_per_s;

	return isnan(bytes_per_s) ? 0 : bytes_per_s;
}

static double score_of(const struct site_history *history)
{
	return history->trend.score.total;
}

static const char *const group_labels[] = {
	[BY_STACK] = "",        [BY_PROCESS] = "comm",  [BY_MODULE] = "module",
	[BY_THREAD] = "thread", [BY_CGROUP] = "cgroup",
};

_Static_assert(sizeof(group_labels) / sizeof(group_labels[0]) == BY_CNT,
	       "each grouping has a label");

static void begin_group(struct metrics_text *text, enum group_by by,
			const struct report_group *group)
{
	metrics_begin(text);
	metrics_label_of(text, "group", "%016" PRIx64, group->sum->id);
	if (by == BY_MODULE || by == BY_CGROUP) {
		metrics_label(text, group_labels[by],
			      sym_is_known(group->name) ? group->name : "[unknown]");
		return;
	}
	metrics_label_process(text, group->sum->process);
	if (by == BY_THREAD) {
		metrics_label_of(text, "tid", "%d", group->sum->tid);
		metrics_label(text, "thread", group->thread);
	}
}

/* The rows of each metric: one per site, or one per group. */
struct rows {
	const struct report *report;
	const struct report_site **sites; /* the sites; NULL if the rows are those of groups */
	size_t cnt;
};

static const struct site *sum_at(const struct rows *rows, size_t at)
{
	return rows->sites ? rows->sites[at]->site : rows->report->groups[at].sum;
}

static const struct site_history *history_at(const struct rows *rows, size_t at)
{
	return rows->sites ? rows->sites[at]->history : rows->report->groups[at].history;
}

static void begin_row(struct metrics_text *text, const struct rows *rows, size_t at)
{
	if (rows->sites)
		metrics_begin_site(text, rows->sites[at], false);
	else
		begin_group(text, rows->report->by, &rows->report->groups[at]);
}

/* Writes the row "other" with the value `rest`: the sum for all sites or groups without a row. */
static void write_rest(struct metrics_text *text, const struct rows *rows, uint64_t rest)
{
	metrics_begin(text);
	metrics_label(text, rows->sites ? "function" : group_labels[rows->report->by], "other");
	metrics_unsigned(text, rest);
}

static void write_sums(struct metrics_text *text, const struct rows *rows,
		       const struct metric_family *family, bool blocks)
{
	uint64_t rest = blocks ? rows->report->count : rows->report->bytes;

	metrics_family(text, family);
	for (size_t i = 0; i < rows->cnt; i++) {
		const struct site *sum = sum_at(rows, i);
		uint64_t value = blocks ? sum->count : sum->bytes;

		begin_row(text, rows, i);
		metrics_unsigned(text, value);
		rest -= value;
	}
	write_rest(text, rows, rest);
}

static uint64_t lost_of(const struct site *site, bool blocks)
{
	return blocks ? site->reach.lost.count : site->reach.lost.bytes;
}

/* Writes the memory that is proven lost. A site or group that no proof has examined has no row. */
static void write_lost(struct metrics_text *text, const struct rows *rows,
		       const struct metric_family *family, bool blocks)
{
	const struct snapshot *snap = rows->report->snapshot;
	uint64_t rest = 0;

	metrics_family(text, family);
	for (size_t i = 0; i < snap->site_cnt; i++)
		rest += lost_of(&snap->sites[i], blocks);
	for (size_t i = 0; i < rows->cnt; i++) {
		const struct site *sum = sum_at(rows, i);

		if (!sum->reach.proved)
			continue;
		begin_row(text, rows, i);
		metrics_unsigned(text, lost_of(sum, blocks));
		rest -= lost_of(sum, blocks);
	}
	write_rest(text, rows, rest);
}

static void write_trends(struct metrics_text *text, const struct rows *rows,
			 const struct metric_family *family,
			 double (*value_of)(const struct site_history *history))
{
	metrics_family(text, family);
	for (size_t i = 0; i < rows->cnt; i++) {
		const struct site_history *history = history_at(rows, i);

		if (!is_judged(history))
			continue;
		begin_row(text, rows, i);
		metrics_double(text, value_of(history));
	}
}

int metrics_write_sites(struct metrics_text *text, const struct report *report)
{
	cleanup_free const struct report_site **sites = NULL;
	struct rows rows = {.report = report};
	int err = report_list(report, report->site_cnt, &rows.cnt, &sites);

	if (err)
		return err;
	rows.sites = sites;
	rows.cnt = metrics_rows(rows.cnt);
	write_sums(text, &rows, &site_bytes, false);
	write_sums(text, &rows, &site_blocks, true);
	write_trends(text, &rows, &site_growth, growth_of);
	write_trends(text, &rows, &site_score, score_of);
	if (!report->snapshot->proof)
		return 0;
	write_lost(text, &rows, &site_lost_bytes, false);
	write_lost(text, &rows, &site_lost_blocks, true);
	return 0;
}

void metrics_write_groups(struct metrics_text *text, const struct report *report)
{
	const struct rows rows = {.report = report, .cnt = metrics_rows(report->group_cnt)};

	if (report->by == BY_STACK)
		return;
	write_sums(text, &rows, &group_bytes, false);
	write_sums(text, &rows, &group_blocks, true);
	write_trends(text, &rows, &group_growth, growth_of);
	write_trends(text, &rows, &group_score, score_of);
	if (!report->snapshot->proof)
		return;
	write_lost(text, &rows, &group_lost_bytes, false);
	write_lost(text, &rows, &group_lost_blocks, true);
}
