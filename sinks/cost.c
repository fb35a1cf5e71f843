// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes how much CPU time tracing takes from the traced processes. */
#include "sinks/cost.h"

#include <math.h>

/*
 * Cost of tracing, as a share of the traced processes' CPU time and as a share of one processor,
 * above which the report suggests ways to lower it
 */
#define MUCH 0.2
#define MUCH_OF_PROCESSOR 0.02

/* Minimum share of the processes' CPU time that sampling must save to be suggested */
#define LEAST_SAVING 0.1

/* The suggested value of --sample-bytes: 512k */
#define SAMPLE_BYTES (512 << 10)

static unsigned int percent(double share)
{
	return (unsigned int)(share * 100 + 0.5);
}

/*
 * Returns the fraction of the calls that --sample-bytes would sample at least: those that allocated
 * outstanding blocks, if all blocks of a site have the same size. The sizes of freed blocks are not
 * known.
 */
static double sampled_of(const struct snapshot *snap)
{
	double sampled = 0, cnt = 0;

	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (site->space != SPACE_USER || !site->count)
			continue;
		sampled -= (double)site->count *
			   expm1(-(double)site->bytes / (double)site->count / SAMPLE_BYTES);
		cnt += (double)site->count;
	}
	return cnt > 0 ? sampled / fmax(cnt, (double)snap->calls) : 0;
}

/*
 * Suggests ways to lower the cost of tracing. Sampling avoids neither the trap at the entry of each
 * call nor the cost of calls that are sampled: the percentage written for --sample-bytes is the
 * cost of these. It is not suggested if it saves little. Suggests no option that conflicts with
 * those in use.
 */
static void write_ways_out(const struct text_part *part)
{
	const struct report *report = part->report;
	const struct snapshot *snap = report->snapshot;
	const double sampled = sampled_of(snap);
	const char *ways[3];
	char by_sampling[64];
	size_t cnt = 0;

	snprintf(by_sampling, sizeof(by_sampling), "--sample-bytes 512k (%u %% at best)",
		 percent(tracing_cost_least_share(&snap->cost, sampled)));
	if (snap->sampling.mode == SAMPLING_NONE &&
	    report_may_advise(report, ADVISED_SAMPLE_BYTES) &&
	    tracing_cost_saving(&snap->cost, sampled) >= LEAST_SAVING)
		ways[cnt++] = by_sampling;
	if (report_may_advise(report, ADVISED_DURATION))
		ways[cnt++] = "trace for a limited time (-d SECONDS)";
	if (report_may_advise(report, ADVISED_AGENT))
		ways[cnt++] = "restart the program with memleak --agent -- COMMAND, which uses no "
			      "traps";
	if (!cnt)
		return;
	text_begin_line(part);
	for (size_t i = 0; i < cnt; i++)
		fprintf(part->out, "%s%s",
			!i            ? "to lower this: "
			: i + 1 < cnt ? "; "
				      : "; or ",
			ways[i]);
	fputc('\n', part->out);
}

/* Writes what --max-overhead allows, and how it is kept. */
static void write_bound(const struct text_part *part, const struct tracing_cost *cost)
{
	fprintf(part->out, ", at most %g %%: ", cost->most_share * 100);
	if (!cost->sample_bytes) {
		fputs("all blocks are recorded", part->out);
		return;
	}
	fputs("one sample is taken every ", part->out);
	text_write_bytes(part, cost->sample_bytes);
}

/* Writes the line without a cost if only the maximum is known. */
static void write_unknown(const struct text_part *part)
{
	text_begin_line(part);
	fputs("the cost of tracing is not known yet", part->out);
	write_bound(part, &part->report->snapshot->cost);
	fputc('\n', part->out);
}

void cost_write_text(const struct text_part *part)
{
	const struct tracing_cost *cost = &part->report->snapshot->cost;
	double share, processors;

	if (!tracing_cost_is_known(cost)) {
		if (cost->most_share > 0)
			write_unknown(part);
		return;
	}
	share = tracing_cost_share(cost);
	processors = tracing_cost_processors(cost);
	text_begin_line(part);
	if (share < 0.01 && !cost->is_least)
		fputs("tracing costs less than 1 %", part->out);
	else
		fprintf(part->out, "tracing costs %s %u %%", cost->is_least ? "more than" : "some",
			percent(share));
	fputs(" of the target's CPU time", part->out);
	if (share > MUCH && processors < MUCH_OF_PROCESSOR)
		fprintf(part->out, ", %.1f %% of a processor", processors * 100);
	fprintf(part->out, " (%.0f calls/s)", tracing_cost_calls_per_s(cost));
	if (cost->most_share > 0)
		write_bound(part, cost);
	fputc('\n', part->out);
	if (cost->most_share <= 0 && share > MUCH && processors >= MUCH_OF_PROCESSOR)
		write_ways_out(part);
}

void cost_write_json(struct json_writer *json, const struct snapshot *snap)
{
	const struct tracing_cost *cost = &snap->cost;

	if (cost->most_share > 0) {
		json_begin_object(json, "max_overhead");
		json_real(json, "cpu_share", cost->most_share);
		json_unsigned(json, "interval", cost->sample_bytes);
		json_end_object(json);
	}
	if (!tracing_cost_is_known(cost))
		return;
	json_begin_object(json, "tracing_cost");
	json_real(json, "cpu_share", tracing_cost_share(cost));
	json_bool(json, "at_least", cost->is_least);
	json_real(json, "calls_per_s", tracing_cost_calls_per_s(cost));
	json_real(json, "least_cpu_share", tracing_cost_least_share(cost, sampled_of(snap)));
	json_end_object(json);
}
