// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers questions that depend on several options, such as whether reports can be about several
 * processes.
 */
#include "options/options.h"

#include <stdlib.h>
#include <string.h>

#include "options/shell_words.h"

void options_deinit(struct options *opts)
{
	free(opts->pids);
	for (size_t i = 0; i < opts->custom_function_cnt; i++)
		free(opts->custom_functions[i].name);
	free(opts->custom_functions);
	for (size_t i = 0; i < opts->own_cnt; i++)
		free(opts->own[i]);
	free(opts->own);
	suppressions_deinit(&opts->suppressions);
	shell_words_free(opts->command);
	memset(opts, 0, sizeof(*opts));
}

bool options_want_threads(const struct options *opts)
{
	return opts->show_allocs || opts->largest || opts->by == BY_THREAD;
}

bool options_want_cgroups(const struct options *opts)
{
	return opts->by == BY_CGROUP || opts->record;
}

bool options_find_processes(const struct options *opts)
{
	return opts->all_processes || opts->comm || opts->cgroup;
}

bool options_trace_processes(const struct options *opts)
{
	return opts->pid_cnt || opts->command || options_find_processes(opts);
}

bool options_ask_for_users(const struct options *opts)
{
	return opts->object || opts->symbols_prefix || opts->custom_function_cnt || opts->force ||
	       opts->unwind != MEMLEAK_UNWIND_AUTO;
}

bool options_leave_out_calls(const struct options *opts)
{
	return opts->min_size || opts->max_size != UINT64_MAX || opts->sample_rate > 1 ||
	       opts->sample_bytes || opts->max_overhead;
}

bool options_keep_every_block(const struct options *opts)
{
	return !opts->combined_only && !opts->custom_function_cnt && !options_leave_out_calls(opts);
}

bool options_take_several(const struct options *opts)
{
	return opts->pid_cnt > 1 || opts->follow || options_find_processes(opts);
}

bool options_know_all_blocks(const struct options *opts)
{
	return !opts->count_by && options_trace_processes(opts) && !options_take_several(opts) &&
	       options_keep_every_block(opts);
}

bool options_share_probes(const struct options *opts)
{
	return options_find_processes(opts) || opts->follow;
}
