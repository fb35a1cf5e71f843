// SPDX-License-Identifier: GPL-2.0-or-later
/* What the options say of what is traced, in the words in which others ask. */
#include "loader/options.h"

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
	return opts->object || opts->symbols_prefix || opts->pool_function_cnt || opts->force ||
	       opts->unwind != MEMLEAK_UNWIND_AUTO || opts->verify_unwind;
}

bool options_share_probes(const struct options *opts)
{
	return options_find_processes(opts) || opts->follow;
}
