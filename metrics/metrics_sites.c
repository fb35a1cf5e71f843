// SPDX-License-Identifier: GPL-2.0-or-later
/* A row for each site or group that a report shows, and one for all that it does not. */
#include "metrics/metrics_sites.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "loader/cleanup.h"
#include "report/frame_walk.h"

static const struct metric_family site_bytes = {
	"memleak_site_outstanding_bytes", METRIC_GAUGE, "bytes",
	"Bytes outstanding of the stacks shown, and of all others together."};
static const struct metric_family site_blocks = {
	"memleak_site_outstanding_blocks", METRIC_GAUGE, "blocks",
	"Blocks outstanding of the stacks shown, and of all others together."};
static const struct metric_family site_growth = {"memleak_site_growth_bytes_per_second",
						 METRIC_GAUGE, "bytes_per_second",
						 "How fast it grows, after a few reports."};
static const struct metric_family site_score = {
	"memleak_site_leak_score", METRIC_GAUGE, NULL,
	"How much it looks like a leak, from 0 to 1, after a few reports."};

static const struct metric_family group_bytes = {
	"memleak_group_outstanding_bytes", METRIC_GAUGE, "bytes",
	"Bytes outstanding of what --by sums up to, and of all others together."};
static const struct metric_family group_blocks = {
	"memleak_group_outstanding_blocks", METRIC_GAUGE, "blocks",
	"Blocks outstanding of what --by sums up to, and of all others together."};
static const struct metric_family group_growth = {"memleak_group_growth_bytes_per_second",
						  METRIC_GAUGE, "bytes_per_second",
						  "How fast it grows, after a few reports."};
static const struct metric_family group_score = {
	"memleak_group_leak_score", METRIC_GAUGE, NULL,
	"How much it looks like a leak, from 0 to 1, after a few reports."};

/* Collectors keep each row: however many are shown, there are no more than so many. */
#define ROWS_MAX 1000

#define CALLERS_MAX 4

size_t metrics_rows(size_t shown)
{
	return shown < ROWS_MAX ? shown : ROWS_MAX;
}

static void label_process(struct metrics_text *text, const struct process *process)
{
	if (!process)
		return;
	metrics_label_of(text, "pid", "%d", process->pid);
	metrics_label(text, "comm", process->comm);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_known(const char *name)
{
	return name && *name;
}

/* Where it stands in the file if it has no name. */
static void label_culprit(struct metrics_text *text, const struct report_site *shown)
{
	static const struct sym_location nowhere;
	struct frame_walk walk;
	bool known = frame_walk_culprit(&walk, shown);
	const struct sym_location *location = known ? walk.location : NULL;
	const struct sym_frame *frame = known ? walk.frame : NULL;

	if (!location)
		location = &nowhere;
	if (frame && is_known(frame->symbol))
		metrics_label(text, "function", frame->symbol);
	else if (is_known(location->module))
		metrics_label_of(text, "function", "%s+0x%" PRIx64, file_name(location->module),
				 location->module_offset);
	else
		metrics_label(text, "function", "[unknown]");
	if (frame && is_known(frame->file) && frame->line)
		metrics_label_of(text, "file", "%s:%u", frame->file, frame->line);
	else if (frame)
		metrics_label(text, "file", frame->file);
	metrics_label(text, "module", location->module);
}

/* NULL: there are none, or no memory. */
static char *callers_of(const struct report_site *shown)
{
	char *names = NULL;
	size_t len, skip = shown->culprit.function + 1, cnt = 0;
	FILE *out = open_memstream(&names, &len);

	if (!out)
		return NULL;
	for (size_t i = shown->culprit.frame; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];

		for (size_t j = skip; location && j < location->frame_cnt; j++)
			if (cnt < CALLERS_MAX && is_known(location->frames[j].symbol))
				fprintf(out, "%s%s", cnt++ ? " < " : "",
					location->frames[j].symbol);
		skip = 0;
	}
	fclose(out);
	return names;
}

/* Names may be shown alike, by what is not shown of them; the id tells them apart. */
static void begin_site(struct metrics_text *text, const struct report_site *shown)
{
	const struct site *site = shown->site;
	cleanup_free char *callers = callers_of(shown);

	metrics_begin(text);
	metrics_label_of(text, "site", "%016" PRIx64, site->id);
	metrics_label(text, "space", site->space == SPACE_KERNEL ? "kernel" : "user");
	metrics_label(text, "kind", kind_name(site->kind));
	label_process(text, site->process);
	label_culprit(text, shown);
	metrics_label(text, "callers", callers);
	metrics_label(text, "cache", site->origin.cache);
}

static void write_other(struct metrics_text *text, const char *name, uint64_t value)
{
	metrics_begin(text);
	metrics_label(text, name, "other");
	metrics_unsigned(text, value);
}

static bool is_judged(const struct site_history *history)
{
	return history && history->trend.tendency != TENDENCY_UNKNOWN;
}

/* What never left its first size has no moment since which it grows. */
static double growth_of(const struct site_history *history)
{
	double bytes_per_s = history->trend.bytes_per_s;

	return isnan(bytes_per_s) ? 0 : bytes_per_s;
}

static void write_site_trends(struct metrics_text *text, const struct report *report)
{
	const struct report_site *shown = report->sites;

	metrics_family(text, &site_growth);
	for (size_t i = 0; i < metrics_rows(report->site_cnt); i++) {
		if (!is_judged(shown[i].history))
			continue;
		begin_site(text, &shown[i]);
		metrics_double(text, growth_of(shown[i].history));
	}
	metrics_family(text, &site_score);
	for (size_t i = 0; i < metrics_rows(report->site_cnt); i++) {
		if (!is_judged(shown[i].history))
			continue;
		begin_site(text, &shown[i]);
		metrics_double(text, shown[i].history->trend.score.total);
	}
}

void metrics_write_sites(struct metrics_text *text, const struct report *report)
{
	const struct report_site *shown = report->sites;
	uint64_t bytes = report->bytes, count = report->count;

	metrics_family(text, &site_bytes);
	for (size_t i = 0; i < metrics_rows(report->site_cnt); i++) {
		begin_site(text, &shown[i]);
		metrics_unsigned(text, shown[i].site->bytes);
		bytes -= shown[i].site->bytes;
	}
	write_other(text, "function", bytes);
	metrics_family(text, &site_blocks);
	for (size_t i = 0; i < metrics_rows(report->site_cnt); i++) {
		begin_site(text, &shown[i]);
		metrics_unsigned(text, shown[i].site->count);
		count -= shown[i].site->count;
	}
	write_other(text, "function", count);
	write_site_trends(text, report);
}

static const char *const group_labels[] = {
	[BY_STACK] = "",        [BY_PROCESS] = "comm",  [BY_MODULE] = "module",
	[BY_THREAD] = "thread", [BY_CGROUP] = "cgroup",
};

static void begin_group(struct metrics_text *text, enum group_by by,
			const struct report_group *group)
{
	metrics_begin(text);
	metrics_label_of(text, "group", "%016" PRIx64, group->sum->id);
	if (by == BY_MODULE || by == BY_CGROUP) {
		metrics_label(text, group_labels[by],
			      is_known(group->name) ? group->name : "[unknown]");
		return;
	}
	label_process(text, group->sum->process);
	if (by == BY_THREAD) {
		metrics_label_of(text, "tid", "%d", group->sum->tid);
		metrics_label(text, "thread", group->thread);
	}
}

static void write_group_trends(struct metrics_text *text, const struct report *report)
{
	const struct report_group *groups = report->groups;

	metrics_family(text, &group_growth);
	for (size_t i = 0; i < metrics_rows(report->group_cnt); i++) {
		if (!is_judged(groups[i].history))
			continue;
		begin_group(text, report->by, &groups[i]);
		metrics_double(text, growth_of(groups[i].history));
	}
	metrics_family(text, &group_score);
	for (size_t i = 0; i < metrics_rows(report->group_cnt); i++) {
		if (!is_judged(groups[i].history))
			continue;
		begin_group(text, report->by, &groups[i]);
		metrics_double(text, groups[i].history->trend.score.total);
	}
}

void metrics_write_groups(struct metrics_text *text, const struct report *report)
{
	const struct report_group *groups = report->groups;
	uint64_t bytes = report->bytes, count = report->count;

	if (report->by == BY_STACK)
		return;
	metrics_family(text, &group_bytes);
	for (size_t i = 0; i < metrics_rows(report->group_cnt); i++) {
		begin_group(text, report->by, &groups[i]);
		metrics_unsigned(text, groups[i].sum->bytes);
		bytes -= groups[i].sum->bytes;
	}
	write_other(text, group_labels[report->by], bytes);
	metrics_family(text, &group_blocks);
	for (size_t i = 0; i < metrics_rows(report->group_cnt); i++) {
		begin_group(text, report->by, &groups[i]);
		metrics_unsigned(text, groups[i].sum->count);
		count -= groups[i].sum->count;
	}
	write_other(text, group_labels[report->by], count);
	write_group_trends(text, report);
}
