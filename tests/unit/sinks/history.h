/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports after several snapshots, with the history of each site, for formats that show growth. */
#ifndef TESTS_UNIT_SINKS_HISTORY_H
#define TESTS_UNIT_SINKS_HISTORY_H

#include "sinks/sink.h"

/* Returns the sink's output for the last snapshot. */
char *print_history(const struct sink *sink, const struct snapshot *snaps, size_t cnt);

/* A leak, a cache that fills, short-lived blocks, and a leak that begins late. */
extern const struct snapshot story[8];

#endif
