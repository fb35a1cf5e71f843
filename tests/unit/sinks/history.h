/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a report on the last of several snapshots. The report has the history of each site, for
 * formats that show growth.
 */
#ifndef TESTS_UNIT_SINKS_HISTORY_H
#define TESTS_UNIT_SINKS_HISTORY_H

#include "sinks/sink.h"

char *print_history(const struct sink *sink, const struct snapshot *snaps, size_t cnt);

/*
 * Snapshots of a program with a leak, a cache that fills, short-lived blocks, and a leak that
 * begins late.
 */
extern const struct snapshot story[8];

#endif
