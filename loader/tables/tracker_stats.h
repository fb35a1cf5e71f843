/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the counters of a BPF object for snapshots. */
#ifndef LOADER_TABLES_TRACKER_STATS_H
#define LOADER_TABLES_TRACKER_STATS_H

#include "loader/tables/tracker.h"

/*
 * Notes how many events have been missed until now: only events missed after this call count as
 * losses.
 */
void tracker_stats_start(struct tracker *tracker);

/*
 * Reads losses, calls and statistics. With --stats, also walks over the tables to count their
 * entries. Returns 0 or a negative errno.
 */
int tracker_stats_read(struct tracker *tracker, struct snapshot *snap);

/* Returns the current counters; zeros if they cannot be read. */
struct stats tracker_stats_now(const struct tracker *tracker);

/*
 * Returns how many times the kernel did not run a BPF program because the program was already
 * running; 0 if the program is not loaded.
 */
uint64_t program_recursion_misses(const struct bpf_program *prog);

#endif
