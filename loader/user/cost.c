// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums the CPU times of traced processes and the costs of their calls. */
#include "loader/user/cost.h"

#include "base/proc.h"
#include "loader/tables/tracker_stats.h"

uint64_t user_cost_cpu_ns(const struct process_set *set)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < set->table.cnt; i++) {
		const struct user_process *process = set->table.items[i];

		if (process->ended || process->is_no_target || process->gone_ns)
			return 0;
		sum_ns += proc_cpu_ns(process->info.pid);
	}
	return sum_ns;
}

/* True if more than a tenth of the calls go to functions whose probes the kernel single-steps. */
static bool is_stepped(const struct process_set *set, const struct stats *stats)
{
	uint64_t calls = 0;
	uint32_t stepped = 0;

	for (size_t i = 0; i < set->table.cnt; i++)
		stepped |= set->table.items[i]->stepped;
	for (unsigned int i = 0; i < FAMILY_CNT; i++)
		calls += stepped >> i & 1 ? stats->calls_of[i] : 0;
	return calls > stats->calls / 10;
}

/*
 * Returns the number of calls, the time of their traps, and the CPU time of the processes. Counts
 * only the traps that sampling cannot avoid: one at the entry of each call, and one at the return
 * of realloc() and reallocarray().
 */
static struct tracing_cost sums_of(const struct process_set *set, const struct stats *stats,
				   uint64_t elapsed_ns)
{
	uint64_t traps = stats->calls + stats->calls_of[FAMILY_REALLOC] +
			 stats->calls_of[FAMILY_REALLOCARRAY];

	return (struct tracing_cost){
		.elapsed_ns = elapsed_ns,
		.calls = stats->calls,
		.cpu_ns = user_cost_cpu_ns(set),
		.trap_ns = traps * set->programs->cost.trap_ns,
		.is_least = is_stepped(set, stats),
	};
}

void user_cost_begin(struct process_set *set)
{
	struct user_programs *programs = set->programs;
	struct stats stats = tracker_stats_now(&programs->tracker);
	struct tracing_cost sums = sums_of(set, &stats, 0);

	cost_meter_begin(&programs->cost, programs->tracker.object, &sums);
}

void user_cost_read(struct process_set *set, struct snapshot *snap)
{
	struct user_programs *programs = set->programs;
	struct tracing_cost sums;
	struct stats stats;

	if (!cost_meter_runs(&programs->cost))
		return;
	stats = tracker_stats_now(&programs->tracker);
	cost_meter_take(&programs->cost, programs->tracker.object, stats.calls);
	sums = sums_of(set, &stats, snap->elapsed_ns);
	snap->cost = cost_meter_report(&programs->cost, &sums);
}
