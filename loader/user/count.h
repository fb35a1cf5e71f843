/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of --count: counts calls of allocator functions by cgroup, process or function. */
#ifndef LOADER_USER_COUNT_H
#define LOADER_USER_COUNT_H

#include "loader/source.h"

/*
 * Like user_source__new(), but snapshots of this source contain counts instead of sites and blocks.
 */
int count_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		      size_t pid_cnt, uint64_t start_ns, struct source **ret);

#endif
