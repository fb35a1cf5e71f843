// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the metrics: totals, sites, groups, calls, losses, and memleak's own cost. */
#include "metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "metrics/sites.h"
#include "metrics/text.h"
#include "metrics/verdict.h"
#include "sinks/sink.h"

#define NSEC_PER_SEC 1e9

static const struct metric_family outstanding_bytes = {
	"memleak_outstanding_bytes", METRIC_GAUGE, "bytes",
	"Bytes allocated since tracing began, older than --older, and not freed."};
static const struct metric_family outstanding_blocks = {
	"memleak_outstanding_blocks", METRIC_GAUGE, "blocks",
	"Blocks allocated since tracing began, older than --older, and not freed."};
static const struct metric_family error_bytes = {
	"memleak_outstanding_error_bytes", METRIC_GAUGE, "bytes",
	"Standard error of memleak_outstanding_bytes, which is an estimate with sampling."};
static const struct metric_family reserved_bytes = {
	"memleak_reserved_bytes", METRIC_GAUGE, "bytes",
	"Address space that holds no memory; without --reserved no other metric counts it."};
static const struct metric_family sites = {"memleak_sites", METRIC_GAUGE, NULL,
					   "Stacks that have something outstanding."};

static const struct metric_family proof_bytes = {
	"memleak_proof_bytes", METRIC_GAUGE, "bytes",
	"Bytes that the proof checked, by whether anything points to them: see Proof in the "
	"manual."};
static const struct metric_family proof_unproved = {
	"memleak_proof_unproved_processes", METRIC_GAUGE, NULL,
	"Processes whose memory the proof could not read."};
static const struct metric_family proof_stopped = {
	"memleak_proof_stopped_seconds", METRIC_GAUGE, "seconds",
	"The longest time that the proof stopped a thread."};

static const struct metric_family heap_bytes = {
	"memleak_heap_bytes", METRIC_GAUGE, "bytes",
	"Bytes of glibc's heaps, by state: known to memleak, older, free, or the allocator's own."};
static const struct metric_family heap_present = {
	"memleak_heap_present_bytes", METRIC_GAUGE, "bytes",
	"Pages of glibc's heaps that are in memory, or swapped out."};

static const struct metric_family rss_bytes = {
	"memleak_rss_bytes", METRIC_GAUGE, "bytes",
	"Resident memory of each traced process, by what it is used for."};

static const struct metric_family calls = {"memleak_calls", METRIC_COUNTER, NULL,
					   "Calls of allocator functions since tracing began."};
static const struct metric_family requested_bytes = {
	"memleak_requested_bytes", METRIC_COUNTER, "bytes",
	"Bytes that the calls of memleak_calls_total asked for."};
static const struct metric_family all_calls = {
	"memleak_all_calls", METRIC_COUNTER, NULL,
	"Calls of all allocator functions, including those that memleak_calls_total leaves out."};
static const struct metric_family all_requested_bytes = {
	"memleak_all_requested_bytes", METRIC_COUNTER, "bytes",
	"Bytes requested in all, including those that memleak_requested_bytes_total leaves out."};
static const struct metric_family lost = {
	"memleak_lost", METRIC_COUNTER, NULL,
	"Events lost since tracing began, by reason: see LOST EVENTS in the manual."};

static const struct metric_family build = {"memleak_build_info", METRIC_GAUGE, NULL,
					   "The version of memleak; always 1."};
static const struct metric_family reports = {"memleak_reports", METRIC_COUNTER, NULL,
					     "Reports made."};
static const struct metric_family report_time = {
	"memleak_report_timestamp_seconds", METRIC_GAUGE, "seconds",
	"Time of the report that all other metrics come from, in seconds since 1970."};
static const struct metric_family interval = {"memleak_sample_interval_bytes", METRIC_GAUGE,
					      "bytes",
					      "With --max-overhead: present mean distance between "
					      "samples; 0 if all blocks are recorded."};
static const struct metric_family tracing = {"memleak_tracing_seconds", METRIC_GAUGE, "seconds",
					     "Duration of tracing up to the report."};
static const struct metric_family walk = {"memleak_walk_seconds", METRIC_GAUGE, "seconds",
					  "Time to take the snapshot for the report."};
static const struct metric_family cpu = {"process_cpu_seconds", METRIC_COUNTER, "seconds",
					 "CPU time of memleak and its helpers."};
static const struct metric_family resident = {"process_resident_memory_bytes", METRIC_GAUGE,
					      "bytes",
					      "Resident memory of memleak and its helpers."};

static const char *const count_labels[] = {
	[COUNT_BY_NOTHING] = "",
	[COUNT_BY_CGROUP] = "cgroup",
	[COUNT_BY_PROCESS] = "comm",
	[COUNT_BY_FUNCTION] = "function",
};

static void write_own(struct metrics_text *text, const struct own_cost *own)
{
	metrics_family(text, &build);
	metrics_begin(text);
	metrics_label(text, "version", MEMLEAK_VERSION);
	metrics_unsigned(text, 1);
	metrics_one_unsigned(text, &reports, own->reports);
	metrics_one_double(text, &cpu, own->cpu_seconds);
	metrics_one_unsigned(text, &resident, own->resident_bytes);
}

static void write_snapshot(struct metrics_text *text, const struct snapshot *snap)
{
	metrics_one_double(text, &report_time, (double)snap->wall_ns / NSEC_PER_SEC);
	metrics_one_double(text, &tracing, (double)snap->elapsed_ns / NSEC_PER_SEC);
	metrics_one_double(text, &walk, (double)snap->walk_ns / NSEC_PER_SEC);
	metrics_family(text, &lost);
	for (size_t i = 0; i < LOSS_CNT; i++) {
		metrics_begin(text);
		metrics_label(text, "reason", lost_texts[i].key);
		metrics_unsigned(text, snap->lost[i]);
	}
}

static void write_totals(struct metrics_text *text, const struct report *report)
{
	metrics_one_unsigned(text, &outstanding_bytes, report->bytes);
	metrics_one_unsigned(text, &outstanding_blocks, report->count);
	metrics_one_unsigned(text, &sites, report->sites_total);
	metrics_one_unsigned(text, &reserved_bytes, report->snapshot->reserved.bytes);
	if (report->snapshot->sampling.mode != SAMPLING_NONE)
		metrics_one_double(text, &error_bytes, sqrt(report->bytes_variance));
	if (report->snapshot->cost.most_share > 0)
		metrics_one_unsigned(text, &interval, report->snapshot->cost.sample_bytes);
}

static void write_proof(struct metrics_text *text, const struct proof_facts *proof)
{
	metrics_family(text, &proof_bytes);
	for (size_t i = 0; i < REACH_CNT; i++) {
		metrics_begin(text);
		metrics_label(text, "reach", reach_name(i));
		metrics_unsigned(text, proof->of[i].bytes);
	}
	metrics_one_unsigned(text, &proof_unproved, proof->unproved);
	metrics_one_double(text, &proof_stopped, (double)proof->stopped_ns / NSEC_PER_SEC);
}

static void write_heap(struct metrics_text *text, const struct heap_census *census)
{
	static const char *const states[] = {"known", "older", "free", "allocator"};

	metrics_family(text, &heap_bytes);
	for (size_t i = 0; i <= HEAP_USE_CNT; i++) {
		metrics_begin(text);
		metrics_label(text, "state", states[i]);
		metrics_unsigned(text, i < HEAP_USE_CNT
					       ? heap_census_all(census, (enum heap_use)i).bytes
					       : heap_census_own(census));
	}
	metrics_one_unsigned(text, &heap_present, census->present_bytes);
}

/* Writes a row for each part of resident memory. The labels name `process` unless it is NULL. */
static void write_rss_parts(struct metrics_text *text, const struct process *process,
			    const struct rss *rss)
{
	for (enum rss_part part = 0; part < RSS_PART_CNT; part++) {
		metrics_begin(text);
		metrics_label_process(text, process);
		metrics_label(text, "part", rss_part_name(part));
		metrics_unsigned(text, rss->parts[part]);
	}
}

static void write_rss(struct metrics_text *text, const struct report *report)
{
	const struct processes_rss *all = &report->processes_rss;

	if (!report->rss && !all->cnt)
		return;
	metrics_family(text, &rss_bytes);
	if (report->rss)
		write_rss_parts(text, NULL, report->rss);
	for (size_t i = 0; i < all->cnt; i++)
		write_rss_parts(text, all->items[i].process, all->items[i].rss);
}

static void write_call(struct metrics_text *text, const char *space, const char *function,
		       uint64_t cnt)
{
	metrics_begin(text);
	metrics_label(text, "space", space);
	metrics_label(text, "function", function);
	metrics_unsigned(text, cnt);
}

/*
 * Writes the number of calls: by family of functions for user space, as one total for the kernel.
 */
static void write_calls(struct metrics_text *text, const struct snapshot *snap)
{
	const struct stats *user = &snap->stats[SPACE_USER];
	const struct stats *kernel = &snap->stats[SPACE_KERNEL];

	metrics_family(text, &calls);
	for (size_t i = 0; user->known && i < FAMILY_CNT; i++)
		if (family_name(i))
			write_call(text, "user", family_name(i), user->calls_of[i]);
	if (kernel->known)
		write_call(text, "kernel", NULL, kernel->calls);
}

static void write_count(struct metrics_text *text, enum count_by by, const struct count_row *row,
			uint64_t value)
{
	bool others = row->key == COUNT_OTHERS;

	metrics_begin(text);
	if (by == COUNT_BY_PROCESS && !others)
		metrics_label_of(text, "pid", "%" PRIu64, row->key);
	if (by == COUNT_BY_CGROUP && !others)
		metrics_label_of(text, "cgroup_id", "%" PRIu64, row->key);
	metrics_label(text, count_labels[by], others ? "(others)" : row->name);
	metrics_unsigned(text, value);
}

static int by_total_calls(const void *left, const void *right)
{
	const struct count_row *a = *(const struct count_row *const *)left;
	const struct count_row *b = *(const struct count_row *const *)right;

	return ORDER(b->total_calls, a->total_calls) ?: ORDER(a->key, b->key);
}

/*
 * Writes the rows of --count with the most calls since tracing began, and the sums over all rows.
 * Writes no sum over the rows that are left out: it would decrease when one of them is shown again,
 * and a counter must never decrease.
 */
static int write_counts(struct metrics_text *text, const struct counts_report *report, size_t top)
{
	const struct counts *counts = report->counts;
	cleanup_free const struct count_row **rows = calloc(counts->cnt + 1, sizeof(*rows));
	size_t cnt = metrics_rows(counts->cnt < top ? counts->cnt : top);

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < counts->cnt; i++)
		rows[i] = &counts->rows[i];
	qsort(rows, counts->cnt, sizeof(*rows), by_total_calls);
	while (cnt && !rows[cnt - 1]->total_calls)
		cnt--;
	metrics_family(text, &calls);
	for (size_t i = 0; i < cnt; i++)
		write_count(text, counts->by, rows[i], rows[i]->total_calls);
	metrics_family(text, &requested_bytes);
	for (size_t i = 0; i < cnt; i++)
		write_count(text, counts->by, rows[i], rows[i]->total_bytes);
	metrics_one_unsigned(text, &all_calls, report->sum.total_calls);
	metrics_one_unsigned(text, &all_requested_bytes, report->sum.total_bytes);
	return 0;
}

int metrics_write(FILE *out, const struct metrics *metrics, bool open_metrics)
{
	struct metrics_text text;
	int err = 0;

	metrics_text_init(&text, out, open_metrics);
	if (metrics->report) {
		write_totals(&text, metrics->report);
		metrics_write_verdict(&text, metrics->report);
		err = metrics_write_sites(&text, metrics->report);
		metrics_write_groups(&text, metrics->report);
		if (metrics->report->snapshot->proof)
			write_proof(&text, metrics->report->snapshot->proof);
		if (metrics->report->snapshot->census)
			write_heap(&text, metrics->report->snapshot->census);
		write_rss(&text, metrics->report);
		write_calls(&text, metrics->report->snapshot);
		write_snapshot(&text, metrics->report->snapshot);
	}
	if (metrics->counts) {
		err = err ?: write_counts(&text, metrics->counts, metrics->top);
		write_snapshot(&text, metrics->counts->snapshot);
	}
	write_own(&text, metrics->own);
	metrics_text_end(&text);
	return err;
}
