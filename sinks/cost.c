// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes how much CPU time tracing takes from the traced processes. */
#include "sinks/cost.h"

/*
 * Cost of tracing, as a share of the traced processes' CPU time, above which the report suggests
 * ways to lower it
 */
#define MUCH 0.2

static unsigned int percent(double share)
{
	return (unsigned int)(share * 100 + 0.5);
}

/*
 * Suggests ways to lower the cost of tracing. Sampling avoids most of the cost, but not the trap at
 * the entry of each call: the percentage written for --sample-bytes is the cost of these traps.
 */
static void write_ways_out(const struct text_part *part)
{
	const struct snapshot *snap = part->report->snapshot;

	text_begin_line(part);
	fputs("to lower this: ", part->out);
	if (snap->sampling.mode == SAMPLING_NONE)
		fprintf(part->out, "--sample-bytes 512k (%u %% at best); ",
			percent(tracing_cost_least_share(&snap->cost)));
	fputs("trace for a limited time (-d SECONDS); or restart the program with memleak --agent "
	      "-- COMMAND, which uses no traps\n",
	      part->out);
}

void cost_write_text(const struct text_part *part)
{
	const struct tracing_cost *cost = &part->report->snapshot->cost;
	double share;

	if (!tracing_cost_is_known(cost))
		return;
	share = tracing_cost_share(cost);
	text_begin_line(part);
	if (share < 0.01 && !cost->is_least)
		fputs("tracing costs less than 1 %", part->out);
	else
		fprintf(part->out, "tracing costs %s %u %%", cost->is_least ? "more than" : "some",
			percent(share));
	fprintf(part->out, " of the target's CPU time (%.0f calls/s)\n",
		tracing_cost_calls_per_s(cost));
	if (share > MUCH)
		write_ways_out(part);
}

void cost_write_json(struct json_writer *json, const struct tracing_cost *cost)
{
	if (!tracing_cost_is_known(cost))
		return;
	json_begin_object(json, "tracing_cost");
	json_real(json, "cpu_share", tracing_cost_share(cost));
	json_bool(json, "at_least", cost->is_least);
	json_real(json, "calls_per_s", tracing_cost_calls_per_s(cost));
	json_real(json, "least_cpu_share", tracing_cost_least_share(cost));
	json_end_object(json);
}
