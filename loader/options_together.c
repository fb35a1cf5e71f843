// SPDX-License-Identifier: GPL-2.0-or-later
/* Which options do not go together, and why. */
#include "loader/options_table.h"

#include <string.h>

bool option_is_given(const bool *given, const char *name)
{
	for (int i = 0; i < OPTION_CNT; i++)
		if (strcmp(option_table[i].name, name) == 0)
			return given[i];
	return false;
}

/* --count does nothing of what these ask for. */
static bool asks_for_blocks(const struct options *opts)
{
	return opts->trace || opts->show_allocs || opts->combined_only || opts->largest ||
	       opts->peak || opts->stats || opts->summary || opts->gen_suppressions ||
	       opts->error_exitcode || opts->kernel || opts->by != BY_STACK;
}

static bool has_filters(const bool *given)
{
	static const char *const names[] = {"min-size",     "max-size", "older",  "sample-rate",
					    "sample-bytes", "sort",     "warmup", "suppressions"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (option_is_given(given, names[i]))
			return true;
	return false;
}

/* Whether the last report comes before one could have anything to show. */
static bool ends_in_warmup(const struct options *opts)
{
	if (!opts->warmup_ns)
		return false;
	return opts->duration_ns
		       ? opts->duration_ns <= opts->warmup_ns
		       : opts->count && opts->count <= opts->warmup_ns / opts->interval_ns;
}

const char *options_conflict(const struct options *opts, const bool *given)
{
	if (opts->pid_cnt && opts->command)
		return "--pid and a command cannot be traced together";
	if ((opts->pid_cnt || opts->command) && options_find_processes(opts))
		return "--all-processes, --comm and --cgroup find their processes: give neither "
		       "--pid nor a command";
	if (opts->all_processes && (opts->comm || opts->cgroup))
		return "--all-processes leaves nothing to choose for --comm and --cgroup";
	if (opts->follow && !options_trace_processes(opts))
		return "--follow concerns processes: give --pid or a command";
	if (opts->kernel && (options_find_processes(opts) || opts->follow))
		return "--kernel with processes takes those of --pid or a command, without "
		       "--follow";
	if (opts->combined_only && opts->show_allocs)
		return "--combined-only keeps no blocks that --show-allocs could list";
	if (opts->combined_only && opts->older_given && opts->older_ns)
		return "--combined-only keeps no ages that --older could compare";
	if (opts->combined_only && opts->warmup_ns)
		return "--combined-only keeps no ages that --warmup could compare";
	if (opts->combined_only && opts->sample_bytes)
		return "--combined-only keeps no sizes that --sample-bytes could weigh";
	if (opts->sample_bytes && option_is_given(given, "sample-rate"))
		return "--sample-rate and --sample-bytes are two ways to sample: give one";
	if (opts->combined_only && opts->by == BY_THREAD)
		return "--combined-only keeps no blocks whose threads --by could tell";
	if (opts->combined_only && opts->largest)
		return "--combined-only keeps no blocks of which --largest could be one";
	if (opts->summary && !options_trace_processes(opts))
		return "--summary tells of processes: give --pid or a command";
	if (opts->summary && (opts->sample_bytes || opts->sample_rate > 1))
		return "--summary counts each block, so there can be no sampling";
	if (opts->peak && !options_trace_processes(opts))
		return "--peak watches processes: give --pid or a command";
	if (opts->peak && (opts->sample_bytes || opts->sample_rate > 1))
		return "--peak adds up all blocks, so there can be no sampling";
	if (opts->count_by && !options_trace_processes(opts))
		return "--count concerns processes: give --pid or a command";
	if (opts->count_by && (asks_for_blocks(opts) || has_filters(given)))
		return "--count does nothing else: no other view, filter or order goes with it";
	if (opts->record && opts->count_by)
		return "--record keeps stacks, of which --count knows nothing";
	if (opts->all)
		return "--all is for 'memleak report'";
	if (opts->duration_ns && opts->count)
		return "--duration and COUNT are two ways to end: give one";
	if (ends_in_warmup(opts))
		return "--warmup is to last as long as tracing: there would be no stack to report";
	return NULL;
}
