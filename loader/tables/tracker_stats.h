/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a BPF object has counted, for snapshots. */
#ifndef LOADER_TABLES_TRACKER_STATS_H
#define LOADER_TABLES_TRACKER_STATS_H

#include "loader/tables/tracker.h"

/* What happened before tracking begins does not count as lost. */
void tracker_stats_start(struct tracker *tracker);

/*
 * Reads losses, calls and statistics; with --stats also how full the tables are, which takes a walk
 * over them.
 */
int tracker_stats_read(struct tracker *tracker, struct snapshot *snap);

/* Returns what was counted up to now; nothing if that cannot be read. */
struct stats tracker_stats_now(const struct tracker *tracker);

/* How often the kernel did not run a program because it ran already; 0 if it is not loaded. */
uint64_t program_recursion_misses(const struct bpf_program *prog);

#endif
