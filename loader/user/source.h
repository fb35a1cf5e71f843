/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user source: the heap and mappings of traced processes. */
#ifndef LOADER_USER_SOURCE_H
#define LOADER_USER_SOURCE_H

#include "loader/source.h"

/*
 * Loads the BPF programs, then opens and probes the processes. Files that are not read within
 * start_ns after loading, because they are slow or hostile, are read while the source runs. Returns
 * 0, or a negative errno after logging it. opts and symbolizer must outlive the source.
 */
int user_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		     size_t pid_cnt, uint64_t start_ns, struct source **ret);

/*
 * Makes the source measure the cost of tracing. stats_fd: from cost_meter_open(); the source closes
 * it.
 */
void user_source__measure_cost(struct source *source, int stats_fd);

#endif
