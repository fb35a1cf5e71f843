// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a line for each report ("memleak/1") and for each event ("memleak-event/1"). A line is one
 * JSON object. New versions may add keys, but never rename or remove any. A value that is not known
 * is null. Only a few objects, such as "tracing_cost", are left out if they are not known.
 */
#include <inttypes.h>
#include <math.h>

#include "report/conclusion.h"
#include "report/runtime_objects.h"
#include "sinks/census.h"
#include "sinks/core.h"
#include "sinks/cost.h"
#include "sinks/count.h"
#include "sinks/json_parts.h"
#include "sinks/json_writer.h"
#include "sinks/kernel_line.h"
#include "sinks/peak.h"
#include "sinks/python_line.h"
#include "sinks/rss_line.h"
#include "sinks/sink.h"
#include "sinks/stats.h"
#include "sinks/suppressions.h"
#include "sinks/text_part.h"
#include "sinks/verdict.h"

/* Writes the amount that forked children inherited from their parents; nothing if it is 0. */
static void write_inherited(struct json_writer *json, uint64_t bytes, uint64_t count)
{
	if (count)
		json_write_totals(json, "inherited", bytes, count);
}

static void write_error_of(struct json_writer *json, const char *key, double variance)
{
	if (isnan(variance))
		json_null(json, key);
	else
		json_unsigned(json, key, estimate_error(variance));
}

/* Writes standard errors; nothing if the amounts are not estimates. */
static void write_errors(struct json_writer *json, const struct report *report, double bytes,
			 double count)
{
	if (report->snapshot->sampling.mode == SAMPLING_NONE)
		return;
	json_begin_object(json, "standard_error");
	write_error_of(json, "bytes", bytes);
	write_error_of(json, "count", count);
	json_end_object(json);
}

static void write_growth(struct json_writer *json, int64_t bytes, int64_t count)
{
	json_begin_object(json, "growth");
	json_signed(json, "bytes", bytes);
	json_signed(json, "count", count);
	json_end_object(json);
}

static void write_age(struct json_writer *json, const char *key, uint64_t age_ns)
{
	if (age_ns == AGE_UNKNOWN)
		json_null(json, key);
	else
		json_unsigned(json, key, age_ns);
}

static void write_origin(struct json_writer *json, const struct site_origin *origin)
{
	if (origin->last_comm)
		json_signed(json, "last_pid", origin->last_pid);
	else
		json_null(json, "last_pid");
	json_string(json, "last_comm", origin->last_comm);
	json_bool(json, "several_pids", origin->several_pids);
	if (origin->owner_pid)
		json_signed(json, "owner_pid", origin->owner_pid);
	else
		json_null(json, "owner_pid");
	json_string(json, "owner_comm", origin->owner_comm);
	json_bool(json, "interrupt", origin->interrupt);
	json_string(json, "cache", origin->cache);
	json_bool(json, "several_caches", origin->several_caches);
	json_bool(json, "reclaimable", origin->reclaimable);
	json_unsigned(json, "unseen_frees", origin->unseen_frees);
}

static void write_blocks(struct json_writer *json, const struct report_site *shown)
{
	json_begin_array(json, "allocs");
	for (size_t i = 0; i < shown->block_cnt; i++) {
		const struct block *block = &shown->blocks[i];

		json_begin_object(json, NULL);
		json_hex(json, "addr", block->addr);
		json_unsigned(json, "size", block->size);
		write_age(json, "age_ns", block->age_ns);
		json_signed(json, "tid", block->tid);
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Adds to an object the bytes and blocks of each reachability, from REACH_DEFINITE to
 * REACH_REACHABLE.
 */
static void write_kinds(struct json_writer *json, const struct reach_sum *of)
{
	for (size_t i = 0; i < REACH_CNT; i++)
		json_write_totals(json, reach_name(i), of[i].bytes, of[i].count);
}

/* Writes the result of a proof for a site or a group; null if the proof did not cover it. */
static void write_reach(struct json_writer *json, const struct site_reach *reach)
{
	if (!reach->proved) {
		json_null(json, "reach");
		return;
	}
	json_begin_object(json, "reach");
	write_kinds(json, reach->of);
	json_write_totals(json, "lost", reach->lost.bytes, reach->lost.count);
	json_write_totals(json, "lost_with_them", reach->hanging.bytes, reach->hanging.count);
	json_end_object(json);
}

static void write_held_by(struct json_writer *json, const struct report_site *shown)
{
	json_begin_array(json, "held_by");
	for (size_t i = 0; i < shown->held_by_cnt; i++)
		json_string(json, NULL, shown->held_by[i]);
	json_end_array(json);
}

static void write_proof(struct json_writer *json, const struct proof_facts *proof)
{
	json_begin_object(json, "proof");
	if (proof->processes > proof->unproved)
		json_string(json, "method", proof_method_name(proof->method));
	else
		json_null(json, "method");
	json_real(json, "stopped_ms", (double)proof->stopped_ns / 1e6);
	json_unsigned(json, "scanned_bytes", proof->scanned_bytes);
	json_unsigned(json, "pictures", proof->pictures);
	json_unsigned(json, "processes", proof->processes);
	json_unsigned(json, "unproved", proof->unproved);
	write_kinds(json, proof->of);
	json_end_object(json);
}

static void write_site_keys(struct json_writer *json, const struct report *report,
			    const struct report_site *shown)
{
	const struct site *site = shown->site;

	json_write_id(json, site->id);
	json_string(json, "space", site->space == SPACE_KERNEL ? "kernel" : "user");
	json_string(json, "kind", kind_name(site->kind));
	json_write_process(json, site->process);
	if (site->space == SPACE_KERNEL)
		write_origin(json, &site->origin);
	json_unsigned(json, "bytes", site->bytes);
	json_unsigned(json, "count", site->count);
	write_errors(json, report, site->bytes_variance, site->count_variance);
	write_inherited(json, site->inherited_bytes, site->inherited_count);
	if (site->pinned_bytes)
		json_unsigned(json, "pinned_bytes", site->pinned_bytes);
	write_age(json, "oldest_ns", site->oldest_ns);
	write_age(json, "newest_ns", site->newest_ns);
	write_growth(json, shown->growth_bytes, shown->growth_count);
	verdict_write_trend(json, shown->history);
	verdict_write_ages(json, &site->ages);
	if (report->snapshot->proof) {
		write_reach(json, &site->reach);
		write_held_by(json, shown);
	}
	json_write_stack(json, shown);
	json_write_blamed(json, shown);
	json_bool(json, "truncated", site->end == STACK_END_TRUNCATED);
	json_write_end(json, site->end);
	json_bool(json, "start_up", shown->runtime_init);
	if (report->propose)
		suppressions_propose_json(json, shown);
	if (report->show_allocs)
		write_blocks(json, shown);
}

static void write_site(struct json_writer *json, const struct report *report,
		       const struct report_site *shown)
{
	json_begin_object(json, NULL);
	write_site_keys(json, report, shown);
	json_end_object(json);
}

/*
 * Begins the JSON object of a function. Writes the keys of `site`, which is one of the function's
 * sites, and how many paths (stacks) and processes the function has.
 */
static void begin_function(struct json_writer *json, const struct report *report,
			   const struct report_site *site, size_t paths, size_t processes)
{
	json_begin_object(json, NULL);
	write_site_keys(json, report, site);
	json_unsigned(json, "paths", paths);
	json_unsigned(json, "processes", processes);
}

/*
 * Writes the functions with proven losses. "lost", "lost_with_them" and "lost_per_s" are sums over
 * all paths (stacks) of the function. The keys that describe a site are those of the path that has
 * lost most.
 */
static void write_proven_losses(struct json_writer *json, const struct report *report)
{
	json_begin_array(json, "losses");
	for (size_t i = 0; i < report->loss_cnt; i++) {
		const struct proven_loss *loss = &report->losses[i];

		begin_function(json, report, loss->site, loss->path_cnt, loss->process_cnt);
		json_write_totals(json, "lost", loss->lost.bytes, loss->lost.count);
		json_write_totals(json, "lost_with_them", loss->hanging.bytes, loss->hanging.count);
		json_real(json, "lost_per_s", loss->per_s);
		json_unsigned(json, "lost_for_ns", loss->for_ns);
		json_end_object(json);
	}
	json_end_array(json);
	json_unsigned(json, "losses_total", report->losses_total);
}

static void write_chunks(struct json_writer *json, const struct chunks *chunks)
{
	if (!chunks->bytes) {
		json_null(json, "chunk_bytes");
		json_null(json, "chunk_callers");
		return;
	}
	json_unsigned(json, "chunk_bytes", chunks->bytes);
	json_unsigned(json, "chunk_callers", chunks->callers);
}

static void write_suspects(struct json_writer *json, const struct report *report)
{
	json_begin_array(json, "suspects");
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct suspect *suspect = &report->suspects[i];

		begin_function(json, report, suspect->site, suspect->path_cnt,
			       suspect->process_cnt);
		json_real(json, "bytes_per_s", suspect->bytes_per_s);
		json_string(json, "objects",
			    suspect->site->objects ? suspect->site->objects->words : NULL);
		write_chunks(json, &suspect->site->chunks);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_sites(struct json_writer *json, const char *key, const struct report *report,
			const struct report_site *sites, size_t cnt)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < cnt; i++)
		write_site(json, report, &sites[i]);
	json_end_array(json);
}

static void write_group(struct json_writer *json, const struct report *report,
			const struct report_group *group)
{
	const struct site *sum = group->sum;

	json_begin_object(json, NULL);
	json_write_id(json, sum->id);
	if (report->by == BY_MODULE || report->by == BY_CGROUP)
		json_string(json, report->by == BY_MODULE ? "module" : "cgroup", group->name);
	else
		json_write_process(json, sum->process);
	if (report->by == BY_THREAD) {
		json_signed(json, "tid", sum->tid);
		json_string(json, "thread", group->thread);
	}
	json_unsigned(json, "bytes", sum->bytes);
	json_unsigned(json, "count", sum->count);
	write_errors(json, report, sum->bytes_variance, sum->count_variance);
	write_age(json, "oldest_ns", sum->oldest_ns);
	write_age(json, "newest_ns", sum->newest_ns);
	write_growth(json, group->growth_bytes, group->growth_count);
	verdict_write_trend(json, group->history);
	if (report->snapshot->proof)
		write_reach(json, &sum->reach);
	json_unsigned(json, "sites_total", group->sites_total);
	write_sites(json, "sites", report, group->sites, group->site_cnt);
	json_end_object(json);
}

/*
 * Writes the groups of --by, each with its largest sites. The array "sites" of the report is then
 * empty.
 */
static void write_groups(struct json_writer *json, const struct report *report)
{
	write_sites(json, "sites", report, NULL, 0);
	json_string(json, "by", text_group_word(report->by));
	json_unsigned(json, "groups_total", report->groups_total);
	json_begin_array(json, "groups");
	for (size_t i = 0; i < report->group_cnt; i++)
		write_group(json, report, &report->groups[i]);
	json_end_array(json);
}

static void write_largest(struct json_writer *json, const struct report *report)
{
	json_begin_array(json, "largest");
	for (size_t i = 0; i < report->largest_cnt; i++) {
		const struct site *site = report->largest[i].site;

		json_begin_object(json, NULL);
		json_write_process(json, site->process);
		json_hex(json, "addr", site->largest.addr);
		json_unsigned(json, "size", site->largest.size);
		write_age(json, "age_ns", site->largest.age_ns);
		json_signed(json, "tid", site->largest.tid);
		json_string(json, "kind", kind_name(site->kind));
		json_write_id(json, site->id);
		json_write_stack(json, &report->largest[i]);
		json_write_end(json, site->end);
		json_end_object(json);
	}
	json_end_array(json);
	json_unsigned(json, "largest_total", report->largest_total);
}

/*
 * Writes how much memory was held by processes that have ended since the previous report; nothing
 * if none has ended.
 */
static void write_ended(struct json_writer *json, const struct ended *ended)
{
	if (!ended->processes)
		return;
	json_begin_object(json, "ended");
	json_unsigned(json, "processes", ended->processes);
	json_unsigned(json, "bytes", ended->bytes);
	json_unsigned(json, "count", ended->count);
	json_end_object(json);
}

/* Writes facts about descriptors; nothing without --fds. */
static void write_descriptors(struct json_writer *json, const struct descriptor_facts *facts)
{
	if (!facts->are_traced)
		return;
	json_begin_object(json, "descriptors");
	json_unsigned(json, "older", facts->older);
	json_unsigned(json, "missed", facts->missed);
	json_unsigned(json, "closed_unseen", facts->closed_unseen);
	json_unsigned(json, "unread", facts->unread);
	json_end_object(json);
}

/* Writes the processes that held memory when they ended; nothing if there are none. */
static void write_ended_processes(struct json_writer *json, const struct ended_processes *ended)
{
	if (!ended || !ended->total)
		return;
	json_begin_object(json, "ended_processes");
	json_unsigned(json, "processes", ended->total);
	json_unsigned(json, "bytes", ended->bytes);
	json_begin_array(json, "largest");
	for (size_t i = 0; i < ended->named_cnt; i++) {
		const struct ended_process *process = &ended->named[i];

		json_begin_object(json, NULL);
		json_signed(json, "pid", process->pid);
		json_string(json, "comm", process->comm);
		json_unsigned(json, "bytes", process->bytes);
		json_unsigned(json, "count", process->count);
		if (process->killed_by)
			json_signed(json, "killed_by", process->killed_by);
		else
			json_null(json, "killed_by");
		json_bool(json, "out_of_memory", process->out_of_memory);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes, for each process, the parts of its footprint that grow without being traced, such as
 * anonymous memory. Writes nothing if there are none.
 */
static void write_untraced(struct json_writer *json, const struct untraced_growths *growths)
{
	if (!growths->cnt)
		return;
	json_begin_array(json, "untraced");
	for (size_t i = 0; i < growths->cnt; i++) {
		const struct untraced_growth *growth = &growths->items[i];

		json_begin_object(json, NULL);
		json_write_process(json, growth->process);
		json_string(json, "part", footprint_part_name(growth->part));
		json_real(json, "per_s", growth->per_s);
		json_real(json, "traced_bytes_per_s", growth->traced_per_s);
		json_unsigned(json, "since_ns", growth->since_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_sampling(struct json_writer *json, const struct sampling *sampling)
{
	if (sampling->mode == SAMPLING_NONE) {
		json_null(json, "sampling");
		return;
	}
	json_begin_object(json, "sampling");
	json_string(json, "mode",
		    sampling->mode == SAMPLING_COUNT   ? "count"
		    : sampling->mode == SAMPLING_STEPS ? "steps"
						       : "bytes");
	json_unsigned(json, sampling->mode == SAMPLING_COUNT ? "rate" : "interval", sampling->rate);
	json_end_object(json);
}

/* Writes the processes that used up their quota of the block table; nothing if there are none. */
static void write_losses(struct json_writer *json, const struct snapshot *snap)
{
	bool any = false;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		if (!snap->tallies[i].refused)
			continue;
		if (!any)
			json_begin_array(json, "lost_by");
		any = true;
		json_begin_object(json, NULL);
		json_write_process(json, snap->tallies[i].process);
		json_unsigned(json, "share_full", snap->tallies[i].refused);
		json_end_object(json);
	}
	if (any)
		json_end_array(json);
}

/* Writes how many frees were inferred because no event showed them. */
static void write_inferred(struct json_writer *json, const struct snapshot *snap)
{
	json_begin_object(json, "inferred");
	json_unsigned(json, "replaced", snap->replaced);
	json_unsigned(json, "gone_with_page", snap->gone_with_page);
	json_unsigned(json, "beyond_caches", snap->beyond_caches);
	json_bool(json, "frees_hidden", snap->frees_hidden);
	json_unsigned(json, "vmalloc_hidden", snap->vmalloc_hidden);
	json_end_object(json);
}

static void write_verdict(struct json_writer *json, const struct report *report)
{
	json_string(json, "verdict", conclusion_name(conclusion_of(report)));
	write_suspects(json, report);
	json_unsigned(json, "suspects_total", report->suspects_total);
	write_untraced(json, &report->untraced);
	rss_write_json_report(json, report);
	if (report->snapshot->python)
		python_write_json(json, report);
}

static uint64_t undecided_cnt(const struct report *report)
{
	return report->undecided + report->pending + (report->unclear != NULL) +
	       (report->settling != NULL) + (report->untraced.too_young.process != NULL) +
	       (report->untraced.pending.process != NULL);
}

static int json_report(FILE *out, const struct report *report)
{
	const struct snapshot *snap = report->snapshot;
	struct json_writer json;

	json_init(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak/1");
	json_write_time(&json, snap->wall_ns);
	json_unsigned(&json, "elapsed_ns", snap->elapsed_ns);
	json_bool(&json, "final", report->final);
	json_write_totals(&json, "outstanding", report->bytes, report->count);
	write_errors(&json, report, report->bytes_variance, report->count_variance);
	write_inherited(&json, report->inherited_bytes, report->inherited_count);
	json_unsigned(&json, "sites_total", report->sites_total);
	json_write_reserved(&json, &snap->reserved);
	write_descriptors(&json, &snap->descriptors);
	write_ended(&json, &snap->ended);
	write_ended_processes(&json, report->ended);
	if (report->by == BY_STACK)
		write_sites(&json, "sites", report, report->sites, report->site_cnt);
	else
		write_groups(&json, report);
	write_verdict(&json, report);
	kernel_write_json(&json, snap);
	cost_write_json(&json, snap);
	json_unsigned(&json, "undecided", undecided_cnt(report));
	if (report->show_largest)
		write_largest(&json, report);
	if (report->show_peak)
		peak_write_json(&json, report);
	json_unsigned(&json, "walk_ns", snap->walk_ns);
	write_sampling(&json, &snap->sampling);
	if (snap->baseline_ns)
		json_unsigned(&json, "baseline_ns", snap->baseline_ns);
	else
		json_null(&json, "baseline_ns");
	if (snap->proof) {
		write_proof(&json, snap->proof);
		write_proven_losses(&json, report);
	}
	census_write_json(&json, snap->census);
	if (snap->core)
		core_write_json(&json, snap->core);
	suppressions_write_json(&json, report);
	json_write_lost(&json, snap->lost);
	write_losses(&json, snap);
	write_inferred(&json, snap);
	json_unsigned(&json, "calls", snap->calls);
	if (report->show_summary)
		stats_write_json_summary(&json, report);
	if (report->show_stats)
		stats_write_json(&json, snap);
	json_end_object(&json);
	fputc('\n', out);
	return 0;
}

static void json_event(FILE *out, const struct trace_event *event)
{
	struct json_writer json;

	json_init(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak-event/1");
	json_write_time(&json, event->wall_ns);
	json_string(&json, "event", event->is_free ? "free" : "alloc");
	json_signed(&json, "pid", event->pid);
	json_signed(&json, "tid", event->tid);
	json_string(&json, "comm", event->comm);
	json_string(&json, "function", event->function);
	json_hex(&json, "addr", event->addr);
	if (event->size == SIZE_UNKNOWN)
		json_null(&json, "size");
	else
		json_unsigned(&json, "size", event->size);
	if (event->stack) {
		json_write_stack(&json, event->stack);
		json_write_end(&json, event->stack->site->end);
	}
	json_end_object(&json);
	fputc('\n', out);
}

const struct sink sink_json = {
	.name = "json",
	.says_losses = true,
	.report = json_report,
	.event = json_event,
	.counts = count_write_json,
};
