/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What memleak can be started to do. Each command returns the exit code and has said on stderr
 * what failed.
 */
#ifndef APP_COMMANDS_H
#define APP_COMMANDS_H

#include "options/options.h"

#define EXIT_CANNOT 1
#define EXIT_USAGE 2

/* memleak [-p PID | -- CMD]: traces, and reports at each interval. */
int trace_command(const struct options *opts);

/* memleak --rss -p PID: what resident memory is used for; places no probes. */
int rss_command(const struct options *opts);

/* memleak report, memleak diff: need neither root nor BPF. */
int report_command(const struct options *opts);
int diff_command(const struct options *opts);

/* memleak core: the heap of a core file, as any user. */
int core_command(const struct options *opts);

#endif
